import { integer, list, oneOf, optionalText, optionalUrl, text, url, urls, type Variable } from './config.js';

/** The environment variables that more than one app reads, declared once. */
export const sharedVariables = {
  HOST: text('Address that this listens on; everything stays on this machine unless told otherwise', {
    default: '127.0.0.1',
  }),
  DATABASE_URL: url(
    'PostgreSQL (15 or newer) to use; `npm start` brings its own when this is not set',
    ['postgres', 'postgresql'],
    { secret: true },
  ),
  NATS_URL: urls(
    'nats-server (2.9 or newer, JetStream on) to use, with user and password (the EVENTS stream is used as user `<user>.events` with the same password); the members of a cluster separated by commas; `npm start` brings its own when this is not set',
    ['nats', 'tls'],
    { secret: true },
  ),
  LOG_LEVEL: oneOf('How much is logged', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
  }),
  SECRET_KEY: list(
    'Encrypts tokens in the database: one or more keys of at least 32 characters, separated by commas; the first encrypts, all decrypt. `npm start` with its own servers makes one',
    { secret: true, minLength: 32 },
  ),
  PUBLIC_URL: optionalUrl(
    'Address of the API as seen from outside: for links (else what the client used), and for the platform’s messages (without it streamers are only polled)',
    ['http', 'https'],
  ),
  PLATFORM_CLIENT_ID: optionalText('Client id of your application on the platform'),
  PLATFORM_CLIENT_SECRET: optionalText('Client secret of your application on the platform', { secret: true }),
  PLATFORM_WEBHOOK_SECRET: list(
    'Secrets that the platform signs its messages with, 10 to 100 characters each, separated by commas: the first signs new subscriptions, all verify',
    {
      secret: true,
      minLength: 10,
      maxLength: 100,
      default: [],
      defaultText: 'none: every message is refused',
    },
  ),
} satisfies Record<string, Variable<unknown>>;

/** The port for `/health/*` and `/metrics` of a service that runs in a process of its own. */
export function adminPort(defaultPort: number): Variable<number> {
  return integer(
    'Port of `/health/*` and `/metrics` when the service runs in a process of its own',
    [0, 65_535],
    { default: defaultPort },
  );
}
