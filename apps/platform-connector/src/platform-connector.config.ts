import { adminPort, optionalUrl, sharedVariables, type ConfigOf } from '@stream-events/service';

const schemes = ['http', 'https'];

/** The environment of the platform connector. */
export const variables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9004),
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  SECRET_KEY: sharedVariables.SECRET_KEY,
  PLATFORM: sharedVariables.PLATFORM,
  PLATFORM_CLIENT_ID: sharedVariables.PLATFORM_CLIENT_ID,
  PLATFORM_CLIENT_SECRET: sharedVariables.PLATFORM_CLIENT_SECRET,
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  PLATFORM_API_URL: optionalUrl('Base URL of the platform’s API; that of PLATFORM unless given', schemes),
  PLATFORM_AUTH_URL: optionalUrl(
    'Base URL of the platform’s OAuth 2 endpoints; that of PLATFORM unless given',
    schemes,
  ),
  PLATFORM_EVENTSUB_URL: optionalUrl(
    'Base URL of the platform’s subscriptions; `eventsub` under PLATFORM_API_URL unless given',
    schemes,
  ),
  PUBLIC_URL: sharedVariables.PUBLIC_URL,
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
};

export type PlatformConnectorConfig = ConfigOf<typeof variables>;
