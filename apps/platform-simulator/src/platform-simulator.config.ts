import {
  adminPort,
  decimal,
  integer,
  oneOf,
  optionalText,
  sharedVariables,
  urls,
  type ConfigOf,
  type Variable,
} from '@stream-events/service';

/** Limit for the event rate, against typing errors. One Node process cannot sign and send more events per second. */
export const maxRate = 100_000;

/** Described in simulator/scenarios.ts. */
export const scenarioNames = ['quiet', 'busy-evening', 'raid', 'streamers-on-and-off'] as const;

/** Which users count as having granted scopes: all, or only users who have consented. */
export const grantModes = ['everyone', 'explicit'] as const;
export type GrantMode = (typeof grantModes)[number];

/** Secret of the control API. `npm run simulator` reads the same variable. */
export const controlSecret: Variable<string> = {
  description:
    'Secret of the control API, at least 32 visible ASCII characters. Requests send it as `Authorization: Bearer`. `npm start` generates one',
  isSecret: true,
  parse: (value) => {
    if (/^[\x21-\x7e]{32,}$/.test(value)) return value;
    throw new Error('must be at least 32 visible ASCII characters');
  },
};

export const variables = {
  HOST: sharedVariables.HOST,
  PORT: integer('Port of the simulated platform; 0 selects any free port', [0, 65_535], { default: 8100 }),
  ADMIN_PORT: adminPort(9003),
  METRICS_TOKEN: sharedVariables.METRICS_TOKEN,
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
  SIMULATOR_CONTROL_SECRET: controlSecret,
  SIMULATOR_CALLBACK_ORIGINS: urls(
    'Addresses of the gateways, separated by commas. The simulator sends messages only to these origins, and rejects subscriptions with another callback. `npm start` sets it',
    ['http', 'https'],
  ),
  SIMULATOR_RATE: decimal('Simulated events per second (decimals allowed); 0 generates none', [0, maxRate], {
    default: 1,
  }),
  PLATFORM_CLIENT_ID: sharedVariables.PLATFORM_CLIENT_ID,
  PLATFORM_CLIENT_SECRET: sharedVariables.PLATFORM_CLIENT_SECRET,
  SIMULATOR_SCENARIO: oneOf(
    'Scenario that runs from the start; it also sets the rate',
    ['none', ...scenarioNames],
    { default: 'none' },
  ),
  SIMULATOR_GRANTS: oneOf(
    'Who has granted scopes. `everyone`: every user has granted every scope. `explicit`: only users who have given consent by authorization code or device code',
    grantModes,
    { default: 'everyone' },
  ),
  SIMULATOR_SEED: optionalText('Seed of the simulation: the same seed gives the same events'),
};

export type SimulatorConfig = ConfigOf<typeof variables>;
