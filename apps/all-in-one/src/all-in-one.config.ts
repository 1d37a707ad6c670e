import type { DatabaseService } from '@stream-events/database/roles';
import { gateway } from '@stream-events/gateway';
import { platformSimulator } from '@stream-events/platform-simulator';
import { platformVariables } from '@stream-events/platforms';
import {
  ConfigError,
  loadConfig,
  sharedVariables,
  text,
  type ConfigOf,
  type Variable,
} from '@stream-events/service';

/** Makes a required variable optional, because `npm start` can supply the value. */
function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, defaultValue: undefined };
}

/** The variables that all-in-one reads itself. Each service also reads its own variables. */
export const variables = {
  HOST: sharedVariables.HOST,
  // If another process uses this port, `npm start` chooses a free one.
  PORT: gateway.variables.PORT,
  DATA_DIR: text('Directory for the data and secrets of the embedded servers', { default: '.data' }),
  DATABASE_URL: optional(sharedVariables.DATABASE_URL),
  EVENTS_DATABASE_URL: optional(sharedVariables.EVENTS_DATABASE_URL),
  GATEWAY_DATABASE_URL: optional(sharedVariables.GATEWAY_DATABASE_URL),
  PLATFORM_CONNECTOR_DATABASE_URL: optional(sharedVariables.PLATFORM_CONNECTOR_DATABASE_URL),
  STREAMER_MONITOR_DATABASE_URL: optional(sharedVariables.STREAMER_MONITOR_DATABASE_URL),
  NATS_URL: optional(sharedVariables.NATS_URL),
  SECRET_KEY: optional(sharedVariables.SECRET_KEY),
  PLATFORM: { ...platformVariables.PLATFORM, defaultValue: 'simulator' as const },
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  OWNER_USERNAME: { ...gateway.variables.OWNER_USERNAME, defaultText: '`admin`' },
  OWNER_PASSWORD: { ...gateway.variables.OWNER_PASSWORD, defaultText: 'random' },
  SIMULATOR_RATE: platformSimulator.variables.SIMULATOR_RATE,
  LOG_LEVEL: {
    ...sharedVariables.LOG_LEVEL,
    defaultValue: 'warn' as const,
    defaultText: 'warn',
  },
};

export type AllInOneConfig = ConfigOf<typeof variables>;

/**
 * @param needs `needsSecretKey`: false for commands that work on the operator's own database without `SECRET_KEY` (default: true)
 * @throws ConfigError if a variable is invalid or missing
 */
export function readConfig(
  environment: NodeJS.ProcessEnv,
  { needsSecretKey = true }: { needsSecretKey?: boolean } = {},
): AllInOneConfig {
  const config = loadConfig(variables, environment);
  const missing = missingServiceUrls(config);
  if (missing.length > 0)
    throw new ConfigError(missing.map((name) => `${name} is required when another service has its own URL`));
  if (needsSecretKey && usesOwnDatabase(config) && !config.SECRET_KEY) {
    // Never generate a key for the operator's own database. A new key cannot decrypt the existing data, and other instances could not
    // decrypt what it encrypts.
    throw new ConfigError([
      'SECRET_KEY is required with your own PostgreSQL (DATABASE_URL, or a URL for each service). If the database already contains data, use the key that encrypted the data',
    ]);
  }
  return config;
}

/** Whether the services use the operator's own database. */
export function usesOwnDatabase(config: AllInOneConfig): boolean {
  return config.DATABASE_URL !== undefined || serviceUrlsOf(config) !== undefined;
}

/** Returns each service's database URL, or undefined unless all four are configured. */
export function serviceUrlsOf(config: AllInOneConfig): Record<DatabaseService, string> | undefined {
  const {
    EVENTS_DATABASE_URL: events,
    GATEWAY_DATABASE_URL: gateway,
    PLATFORM_CONNECTOR_DATABASE_URL: connector,
    STREAMER_MONITOR_DATABASE_URL: monitor,
  } = config;
  if (!events || !gateway || !connector || !monitor) return undefined;
  return { events, gateway, 'platform-connector': connector, 'streamer-monitor': monitor };
}

const serviceUrlNames = [
  'EVENTS_DATABASE_URL',
  'GATEWAY_DATABASE_URL',
  'PLATFORM_CONNECTOR_DATABASE_URL',
  'STREAMER_MONITOR_DATABASE_URL',
] as const;

function missingServiceUrls(config: AllInOneConfig): string[] {
  const missing = serviceUrlNames.filter((name) => !config[name]);
  return missing.length < serviceUrlNames.length ? missing : [];
}
