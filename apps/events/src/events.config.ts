import { platformVariables } from '@stream-events/platforms';
import { adminPort, integer, sharedVariables, tracingVariables, type ConfigOf } from '@stream-events/service';

export const variables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9001),
  METRICS_TOKEN: sharedVariables.METRICS_TOKEN,
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  SECRET_KEY: sharedVariables.SECRET_KEY,
  PLATFORM: platformVariables.PLATFORM,
  RETENTION_DAYS: integer(
    'Days that stored events are kept, in addition to the current day (UTC). Older events are deleted permanently. 0 keeps them forever',
    [0, 3_650],
    { default: 0 },
  ),
  EVENTS_MAX_AGE_DAYS: integer(
    'Days that events stay on the EVENTS stream; never longer than RETENTION_DAYS',
    [1, 365],
    { default: 7 },
  ),
  EVENTS_MAX_GB: integer(
    'Maximum size in GiB of the EVENTS stream. When the stream is full, its oldest events are removed (but stay in the store)',
    [1, 10_000],
    { default: 8 },
  ),
  INGEST_MAX_GB: integer(
    'Maximum size in GiB of the INGEST stream, which holds platform messages while the event store is unavailable. When the stream is full, the gateway rejects platform messages',
    [1, 10_000],
    { default: 2 },
  ),
  NATS_REPLICAS: integer(
    'Servers of a NATS cluster that store each stream: `3` on a cluster of three or more, so that streams survive the loss of a server. The service does not start when the cluster has fewer servers. Existing streams are changed at the next start',
    [1, 5],
    { default: 0, defaultText: 'new streams: 1; existing streams keep their number' },
  ),
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
  ...tracingVariables,
};

export type EventsConfig = ConfigOf<typeof variables>;
