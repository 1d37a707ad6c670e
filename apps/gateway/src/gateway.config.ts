import proxyAddr from '@fastify/proxy-addr';
import {
  adminPort,
  integer,
  list,
  oneOf,
  optionalText,
  sharedVariables,
  tracingVariables,
  type ConfigOf,
  type Variable,
} from '@stream-events/service';

/** The clients whose `X-Forwarded-*` headers the gateway trusts: none (false), all (true), or the listed addresses and networks. */
export type TrustProxy = boolean | string[];

/**
 * The rule for user names in the configuration and in the API. Declared here, because the configuration must not import feature folders.
 */
export const usernameRule = {
  pattern: /^[\w.@+-]{1,150}$/,
  fault: 'must be 1 to 150 letters, digits, or any of @ . + - _',
};

/** Base-2 logarithm of scrypt's N for new password hashes, unless configured. One of the equivalent minimums that OWASP recommends. */
export const defaultHashCost = 15;

/** Password length in characters. The maximum keeps hashing cheap. */
export const passwordLength = { min: 10, max: 1_000 };

const trustProxy: Variable<TrustProxy> = {
  description:
    'Clients whose `X-Forwarded-*` headers the gateway trusts: `false` (none), the addresses and networks of your proxies, separated by commas, or `true` (all; safe only if a proxy replaces these headers)',
  defaultValue: false,
  isSecret: false,
  parse: (value) => {
    if (value === 'true' || value === 'false') return value === 'true';
    const addresses = value.split(',').map((item) => item.trim());
    try {
      proxyAddr.compile(addresses);
    } catch {
      throw new Error('must be true, false, or IP addresses and networks, separated by commas');
    }
    return addresses;
  },
};

/** Environment variables of the gateway. */
export const variables = {
  HOST: sharedVariables.HOST,
  PORT: integer('Port of the HTTP API', [0, 65_535], { default: 8000 }),
  ADMIN_PORT: adminPort(9000),
  METRICS_TOKEN: sharedVariables.METRICS_TOKEN,
  DRAIN_SECONDS: integer(
    'Seconds during which a stopping gateway still serves requests while its readiness probe already fails. Set more seconds than the load balancer needs to notice the failing probe',
    [0, 15],
    { default: 0 },
  ),
  PUBLIC_URL: sharedVariables.PUBLIC_URL,
  TRUST_PROXY: trustProxy,
  CORS_ORIGINS: list(
    'Origins of web pages that may call the API, separated by commas; `*` allows all. Pages of other sites may log in only if their origin is listed',
    {
      default: ['*'],
    },
  ),
  DATABASE_URL: sharedVariables.DATABASE_URL,
  NATS_URL: sharedVariables.NATS_URL,
  SECRET_KEY: sharedVariables.SECRET_KEY,
  OWNER_USERNAME: optionalText('User name of the first owner, created at the first start', usernameRule),
  OWNER_PASSWORD: optionalText(`Password of the first owner, at least ${passwordLength.min} characters`, {
    pattern: new RegExp(`^.{${passwordLength.min},${passwordLength.max}}$`, 'su'),
    fault: `must have ${passwordLength.min} to ${passwordLength.max} characters`,
    secret: true,
  }),
  PASSWORD_HASH_COST: integer(
    'Cost of new password hashes: the base-2 logarithm of scrypt’s N. Each step doubles the time and memory of a login. A value below 15 makes stolen hashes easy to guess: use it only for tests',
    [8, 20],
    { default: defaultHashCost },
  ),
  REGISTRATION: oneOf(
    'Who may register users: owners (`owner`) or anybody (`open`: up to 10 users per address and hour)',
    ['owner', 'open'],
    {
      default: 'owner',
    },
  ),
  RATE_LIMIT_REQUESTS: integer(
    'Maximum number of requests per second from one user at each gateway. A named token can use half of them. 0: no limit, and also no limit on the concurrent requests of a user',
    [0, 1_000_000],
    {
      default: 200,
    },
  ),
  RATE_LIMIT_WRITES: integer(
    'Maximum number of writes (requests that change something) per second from one user at each gateway. A named token can use half of them. 0: no limit',
    [0, 1_000_000],
    { default: 50 },
  ),
  TAU_COMPATIBILITY: oneOf(
    'Whether responses and plain WebSockets use the names and shapes that clients of TAU expect (`on` or `off`). With `on`, requests can use the names of TAU or of this service',
    ['on', 'off'],
    { default: 'off' },
  ),
  MAX_STORED_MB_PER_DAY: integer(
    'Maximum MiB of events that each user may add per day (UTC), across all gateways. New named tokens, rehearsals, scopes, and API endpoints count as 1 KiB. Events from all clients together may fill at most 10 % of the EVENTS stream. 0: neither limit applies',
    [0, 1_000_000],
    { default: 200 },
  ),
  MIN_FREE_DISK_MB: integer(
    'Minimum free space on the disk of DATA_DIR, in MiB. With less free space, the gateway rejects events and other data from clients with 503, but still accepts platform messages. 0: no limit',
    [0, 100_000_000],
    { default: 1_024 },
  ),
  DATA_DIR: optionalText(
    'Directory on the disk that the gateway checks against MIN_FREE_DISK_MB. `npm start` sets it to the directory of the embedded servers. Without a directory, the gateway does not check any disk',
  ),
  PLATFORM_WEBHOOK_SECRET: sharedVariables.PLATFORM_WEBHOOK_SECRET,
  INGEST_FALLBACK: sharedVariables.INGEST_FALLBACK,
  LOG_LEVEL: sharedVariables.LOG_LEVEL,
  ...tracingVariables,
};

export type GatewayConfig = ConfigOf<typeof variables>;
