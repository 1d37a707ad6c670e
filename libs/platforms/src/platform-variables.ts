import { oneOf, optionalUrl } from '@stream-events/service';

/** The values of `PLATFORM`. */
export const platformNames = ['simulator', 'twitch', 'none'] as const;
export type PlatformName = (typeof platformNames)[number];

const schemes = ['http', 'https'];

/** The environment variables that choose the platform, and its addresses. */
export const platformVariables = {
  PLATFORM: oneOf(
    'Which platform the events come from; simulated events never mix with real ones',
    platformNames,
  ),
  PLATFORM_API_URL: optionalUrl('Base URL of the platform’s API; default: the address of PLATFORM', schemes),
  PLATFORM_AUTH_URL: optionalUrl(
    'Base URL of the platform’s OAuth 2 endpoints; default: the address of PLATFORM',
    schemes,
  ),
  PLATFORM_EVENTSUB_URL: optionalUrl(
    'Base URL of the platform’s subscriptions; default: `eventsub` under PLATFORM_API_URL',
    schemes,
  ),
};
