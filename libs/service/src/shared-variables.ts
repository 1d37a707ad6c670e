import {
  decimal,
  integer,
  list,
  oneOf,
  optionalText,
  optionalUrl,
  text,
  urlOfHosts,
  urls,
  type Variable,
} from './config.js';

const databaseSchemes = ['postgres', 'postgresql'];

/** Declares the database URL of one service, for programs that start or prepare several services. */
function databaseUrlOf(service: string): Variable<string> {
  return urlOfHosts(
    `\`DATABASE_URL\` of the ${service}, with its own database role. Set it for every service, or for none`,
    databaseSchemes,
    { secret: true },
  );
}

/** The environment variables that more than one program reads. */
export const sharedVariables = {
  HOST: text('Address to listen on. The default is reachable from this machine only', {
    default: '127.0.0.1',
  }),
  DATABASE_URL: urlOfHosts(
    'PostgreSQL 15 or newer. The address may list several hosts, such as `postgres://user:password@db1:5432,db2:5432/name`: the service uses the one that is the primary. When this is not set, `npm start` runs its own PostgreSQL',
    databaseSchemes,
    { secret: true },
  ),
  EVENTS_DATABASE_URL: databaseUrlOf('events service'),
  GATEWAY_DATABASE_URL: databaseUrlOf('gateway'),
  PLATFORM_CONNECTOR_DATABASE_URL: databaseUrlOf('platform connector'),
  STREAMER_MONITOR_DATABASE_URL: databaseUrlOf('streamer monitor'),
  NATS_URL: urls(
    'nats-server 2.11 or newer with JetStream, with user and password; separate the members of a cluster with commas. While a password is being changed, list each member with the new and with the old password. The service connects to the EVENTS stream as user `<user>.events` with the same password. When this is not set, `npm start` runs its own nats-server',
    ['nats', 'tls'],
    { secret: true },
  ),
  LOG_LEVEL: oneOf('Lowest level of the log lines', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], {
    default: 'info',
  }),
  METRICS_TOKEN: optionalText(
    'Token that Prometheus sends as `Authorization: Bearer <token>` for `/metrics` on `ADMIN_PORT`; at least 16 characters. Without it, the metrics can be read only while `HOST` is a loopback address. With it, `/health/ready` shows the details of failures only to requests with the token',
    { secret: true, pattern: /^[^\s]{16,}$/, fault: 'must have at least 16 characters and no spaces' },
  ),
  SECRET_KEY: list(
    'Encrypts tokens in the database. The same for all services. One or more keys of at least 32 characters, separated by commas: the first key encrypts, every key decrypts. docs/security.md describes how to change it. `npm start` generates one when it runs its own servers',
    { secret: true, minLength: 32 },
  ),
  PUBLIC_URL: optionalUrl(
    'Address of the API as clients and the platform reach it. Used for links (without it, links use the address of the request) and as the webhook address (without it, events arrive over WebSockets: see `PLATFORM_TRANSPORT`)',
    ['http', 'https'],
  ),
  INGEST_FALLBACK: oneOf(
    'What happens to platform messages while the event store is unavailable. `on`: the gateway and the connector put them on the INGEST stream, and the events service stores them later (a power failure may lose them). `off`: the gateway rejects them, and the platform retries; the connector, which cannot reject what arrives over a socket, keeps them in memory',
    ['on', 'off'],
    { default: 'on' },
  ),
  PLATFORM_CLIENT_ID: optionalText('Client id of your application on the platform'),
  PLATFORM_CLIENT_SECRET: optionalText(
    'Client secret of your application on the platform. A public application has none: then every call uses the token of a connected user, and events arrive over plain WebSockets',
    { secret: true },
  ),
  PLATFORM_WEBHOOK_SECRET: list(
    'Secrets that the platform signs its messages with, 10 to 100 characters each, separated by commas. New subscriptions use the first one; every secret verifies messages',
    {
      secret: true,
      minLength: 10,
      maxLength: 100,
      default: [],
      defaultText: 'none: every message is rejected',
    },
  ),
} satisfies Record<string, Variable<unknown>>;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
export type SamplerName = (typeof samplers)[number];

const headersVariable: Variable<Record<string, string>> = {
  description:
    'Headers of the requests to OTEL_EXPORTER_OTLP_ENDPOINT: `name=value`, separated by commas, with values in percent-encoding',
  isSecret: true,
  defaultValue: {},
  defaultText: 'none',
  parse: (value) =>
    Object.fromEntries(
      value.split(',').map((item) => {
        const [, name, encoded = ''] = /^\s*([^\s=]+)\s*=\s*(.*?)\s*$/.exec(item) ?? [];
        if (name === undefined) throw new Error('must be name=value, separated by commas');
        return [name, decodeURIComponent(encoded)];
      }),
    ),
};

/** The standard variables of OpenTelemetry that the services read. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optionalUrl(
    'Address of an OTLP/HTTP receiver of traces, such as an OpenTelemetry collector; spans go to `/v1/traces` below it. When this is not set, traces are off and cost nothing',
    ['http', 'https'],
  ),
  OTEL_EXPORTER_OTLP_HEADERS: headersVariable,
  // By default, OpenTelemetry samples every trace, which is too expensive at thousands of events per second.
  OTEL_TRACES_SAMPLER: oneOf('Which traces are sampled', samplers, { default: 'parentbased_traceidratio' }),
  OTEL_TRACES_SAMPLER_ARG: decimal('Share of the traces that the ratio samplers keep', [0, 1], {
    default: 0.01,
  }),
  OTEL_SERVICE_NAME: optionalText(
    'Name of the service in traces. Default: the name of the app. Set it separately for each service',
  ),
} satisfies Record<string, Variable<unknown>>;

/** The port for `/health/*` and `/metrics` of a service that runs in its own process. */
export function adminPort(defaultPort: number): Variable<number> {
  return integer('Port of `/health/*` and `/metrics` when the service runs in its own process', [0, 65_535], {
    default: defaultPort,
  });
}
