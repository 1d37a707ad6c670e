import { gateway } from '@stream-events/gateway';
import { platformSimulator } from '@stream-events/platform-simulator';
import {
  ConfigError,
  loadConfig,
  sharedVariables,
  text,
  type ConfigOf,
  type Variable,
} from '@stream-events/service';

/** The same variable, but one that `npm start` can do without. */
function optional<T>(variable: Variable<T>): Variable<T | undefined> {
  return { ...variable, defaultValue: undefined };
}

/** The environment of all-in-one itself; every service reads its own beside it. */
export const allInOneVariables = {
  HOST: sharedVariables.HOST,
  // The next free one when it is taken.
  PORT: gateway.variables.PORT,
  DATA_DIR: text('Where the embedded servers keep their data and secrets', { default: '.data' }),
  DATABASE_URL: optional(sharedVariables.DATABASE_URL),
  NATS_URL: optional(sharedVariables.NATS_URL),
  SECRET_KEY: optional(sharedVariables.SECRET_KEY),
  PLATFORM: { ...sharedVariables.PLATFORM, defaultValue: 'simulator' as const },
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  OWNER_USERNAME: { ...gateway.variables.OWNER_USERNAME, defaultText: '`admin`' },
  OWNER_PASSWORD: { ...gateway.variables.OWNER_PASSWORD, defaultText: 'random' },
  SIMULATOR_RATE: platformSimulator.variables.SIMULATOR_RATE,
  LOG_LEVEL: {
    ...sharedVariables.LOG_LEVEL,
    defaultValue: 'warn' as const,
    defaultText: 'warn; info when services run apart',
  },
};

export type AllInOneConfig = ConfigOf<typeof allInOneVariables>;

/** @throws ConfigError with every fault */
export function readConfig(environment: NodeJS.ProcessEnv): AllInOneConfig {
  const config = loadConfig(allInOneVariables, environment);
  if (config.DATABASE_URL && !config.SECRET_KEY) {
    // A key of our own making would encrypt what the other users of that database then cannot read.
    throw new ConfigError([
      'SECRET_KEY is required with DATABASE_URL: the one that this database is used with',
    ]);
  }
  return config;
}
