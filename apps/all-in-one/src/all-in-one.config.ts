import {
  decimal,
  integer,
  loadConfig,
  optionalText,
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
  PORT: integer('Port of the HTTP API; the next free one when it is taken', [0, 65_535], { default: 8000 }),
  DATA_DIR: text('Where the embedded servers keep their data and secrets', { default: '.data' }),
  DATABASE_URL: optional(sharedVariables.DATABASE_URL),
  NATS_URL: optional(sharedVariables.NATS_URL),
  SECRET_KEY: optional(sharedVariables.SECRET_KEY),
  PLATFORM: { ...sharedVariables.PLATFORM, defaultValue: 'simulator' as const },
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  OWNER_USERNAME: optionalText(
    'User name of the first owner, made at the first start; `npm start` makes `admin` without',
  ),
  OWNER_PASSWORD: optionalText(
    'Password of the first owner, at least 10 characters; `npm start` makes a random one without',
    { secret: true },
  ),
  SIMULATOR_RATE: decimal('Events per second of the simulated platform; 0 is silent', [0, 100_000], {
    default: 1,
  }),
  LOG_LEVEL: {
    ...sharedVariables.LOG_LEVEL,
    defaultValue: 'warn' as const,
    defaultText: 'warn; info when services run apart',
  },
};

export type AllInOneConfig = ConfigOf<typeof allInOneVariables>;

/** @throws ConfigError with every fault */
export function readConfig(environment: NodeJS.ProcessEnv): AllInOneConfig {
  return loadConfig(allInOneVariables, environment);
}
