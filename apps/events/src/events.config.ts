import { platformVariables } from '@stream-events/platforms';
import { adminPort, integer, sharedVariables, type ConfigOf } from '@stream-events/service';

/** The environment variables of the events service. */
export const eventsVariables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9001),
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  PLATFORM: platformVariables.PLATFORM,
  EVENTS_MAX_AGE_DAYS: integer('Days that events stay on the EVENTS stream', [1, 365], { default: 7 }),
  EVENTS_MAX_GB: integer(
    'Maximum size of the EVENTS stream in GiB. Beyond it, the oldest events leave the stream (not the store)',
    [1, 10_000],
    { default: 8 },
  ),
  INGEST_MAX_GB: integer(
    'Maximum size of the INGEST stream in GiB, which holds platform messages while they cannot be stored. Beyond it, the gateway rejects them',
    [1, 10_000],
    { default: 2 },
  ),
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
};

export type EventsConfig = ConfigOf<typeof eventsVariables>;
