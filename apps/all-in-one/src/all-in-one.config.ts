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

/** The environment variables that all-in-one itself reads; every service also reads its own. */
export const variables = {
  HOST: sharedVariables.HOST,
  // Another free port is used when this one is in use.
  PORT: gateway.variables.PORT,
  DATA_DIR: text('Directory for the data and secrets of the embedded servers', { default: '.data' }),
  DATABASE_URL: optional(sharedVariables.DATABASE_URL),
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

/** @throws ConfigError that lists all faults */
export function readConfig(environment: NodeJS.ProcessEnv): AllInOneConfig {
  const config = loadConfig(variables, environment);
  if (config.DATABASE_URL && !config.SECRET_KEY) {
    // A newly generated key could not decrypt existing data, and other instances could not decrypt new data.
    throw new ConfigError([
      'SECRET_KEY is required when DATABASE_URL is set. Use the key that this database was used with before',
    ]);
  }
  return config;
}
