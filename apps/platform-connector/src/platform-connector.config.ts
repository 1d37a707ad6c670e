import { platformVariables, transportMethods } from '@stream-events/platforms';
import {
  adminPort,
  integer,
  oneOf,
  optionalText,
  optionalUrl,
  sharedVariables,
  tracingVariables,
  type ConfigOf,
} from '@stream-events/service';

export const variables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9004),
  METRICS_TOKEN: sharedVariables.METRICS_TOKEN,
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  SECRET_KEY: sharedVariables.SECRET_KEY,
  ...platformVariables,
  PLATFORM_CLIENT_ID: sharedVariables.PLATFORM_CLIENT_ID,
  PLATFORM_CLIENT_SECRET: sharedVariables.PLATFORM_CLIENT_SECRET,
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  PLATFORM_TRANSPORT: oneOf(
    'How events arrive from the platform. `auto`: over plain WebSockets when the application has no secret, otherwise by webhook with PUBLIC_URL and PLATFORM_WEBHOOK_SECRET, otherwise over a conduit',
    ['auto', ...transportMethods],
    { default: 'auto' },
  ),
  PLATFORM_CONDUIT_SHARDS: integer(
    'Number of shards of the conduit, each with a WebSocket. The connectors share the shards. Use at least two: if a shard is lost, the platform tries one other shard for its events',
    [1, 100],
    { default: 2 },
  ),
  PUBLIC_URL: sharedVariables.PUBLIC_URL,
  INGEST_FALLBACK: sharedVariables.INGEST_FALLBACK,
  ALERT_WEBHOOK_URL: optionalUrl(
    'Where the service posts alarms when they are raised and cleared, signed with ALERT_WEBHOOK_SECRET as https://www.standardwebhooks.com describes',
    ['http', 'https'],
    { secret: true },
  ),
  ALERT_WEBHOOK_SECRET: optionalText(
    'Secret that signs the messages to ALERT_WEBHOOK_URL: 24 to 64 bytes in Base64, with or without the prefix `whsec_`. Generate one with `openssl rand -base64 32`',
    {
      secret: true,
      pattern: /^(whsec_)?(?=.{32,88}$)(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
      fault: 'must be 24 to 64 bytes in Base64, with or without the prefix `whsec_`',
    },
  ),
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
  ...tracingVariables,
};

export type PlatformConnectorConfig = ConfigOf<typeof variables>;
