import { oneOf, optionalUrl } from '@stream-events/service';

export const platformNames = ['simulator', 'twitch', 'none'] as const;
export type PlatformName = (typeof platformNames)[number];

const schemes = ['http', 'https'];

/** The environment variables that choose the platform and set its addresses. */
export const platformVariables = {
  PLATFORM: oneOf(
    'Platform that the events come from. Simulated events never mix with real ones',
    platformNames,
  ),
  PLATFORM_API_URL: optionalUrl('Base URL of the platform’s API', schemes, {
    defaultText: 'the address of PLATFORM',
  }),
  PLATFORM_AUTH_URL: optionalUrl('Base URL of the platform’s OAuth 2 endpoints', schemes, {
    defaultText: 'the address of PLATFORM',
  }),
  PLATFORM_EVENTSUB_URL: optionalUrl('Base URL of the platform’s subscriptions', schemes, {
    defaultText: '`eventsub` under PLATFORM_API_URL',
  }),
  PLATFORM_SOCKET_URL: optionalUrl('URL of the platform’s event socket', ['ws', 'wss'], {
    defaultText: 'the address of PLATFORM',
  }),
};
