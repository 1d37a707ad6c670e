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

/** Returns the same variable, but optional for `npm start`. */
function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, defaultValue: undefined };
}

/** The environment variables that all-in-one itself reads. Every service also reads its own variables. */
export const variables = {
  HOST: sharedVariables.HOST,
  // When this port is in use, `npm start` chooses another free port.
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

/** @param needs `needsSecretKey`: whether the command needs `SECRET_KEY` for the operator's own database (default: true)
 * @throws ConfigError that lists all faults
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
    // A newly generated key could not decrypt existing data, and other instances could not decrypt new data.
    throw new ConfigError([
      'SECRET_KEY is required when DATABASE_URL is set. If the database already contains data, use the key that encrypted the data',
    ]);
  }
  return config;
}

/** Whether the services use the operator's own database instead of the embedded one. */
export function usesOwnDatabase(config: AllInOneConfig): boolean {
  return config.DATABASE_URL !== undefined || serviceUrlsOf(config) !== undefined;
}

/** Returns the database URL of each service. Undefined unless all four URLs are configured. */
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
