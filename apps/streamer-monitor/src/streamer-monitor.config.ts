import { platformVariables } from '@stream-events/platforms';
import { adminPort, sharedVariables, tracingVariables, type ConfigOf } from '@stream-events/service';

export const variables = {
  HOST: sharedVariables.HOST,
  ADMIN_PORT: adminPort(9002),
  METRICS_TOKEN: sharedVariables.METRICS_TOKEN,
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  PLATFORM: platformVariables.PLATFORM,
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
  ...tracingVariables,
};

export type StreamerMonitorConfig = ConfigOf<typeof variables>;
