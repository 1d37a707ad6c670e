import { randomBytes } from 'node:crypto';
import { freePort, ServiceProcess, type ServiceProcessOptions } from '@stream-events/testing';
import { databaseUrlFor, prepareDatabase } from './database-roles.js';
import type { ServerAddresses } from './servers.js';

/** Processes per service, and how to start them. */
export interface SystemSize extends ServiceProcessOptions {
  gateways: number;
  events: number;
  environment?: Readonly<Record<string, string>>;
}

/** Gateways and events services, as separate processes. */
export interface System {
  gateways: ServiceProcess[];
  events: ServiceProcess[];
  /** Signs platform messages. */
  webhookSecret: string;
  /** Access token of a user with the role owner. */
  token: string;
  /** Login of that owner. */
  owner: { username: string; password: string };
  /** Sends an owner's request with JSON to the first gateway. */
  request: <Reply>(method: string, path: string, body?: object) => Promise<Reply>;
  /** Options that the services were started with. */
  options: ServiceProcessOptions;
  stop(): Promise<void>;
}

// Longer than any of the service's own time limits, so only a hanging request reaches it.
const requestLimitMs = 20_000;

// Shared by all systems of a run, so that one system can use another's database.
const owner = { username: 'owner', password: randomBytes(12).toString('hex') };
const secretKey = randomBytes(32).toString('hex');

/** Starts the services on one database and one NATS. */
export async function startSystem(
  servers: ServerAddresses,
  databaseUrl: string,
  size: SystemSize,
): Promise<System> {
  const webhookSecret = randomBytes(16).toString('hex');
  await prepareDatabase(databaseUrl);
  const shared = async (user: 'gateway' | 'events'): Promise<Record<string, string>> => ({
    HOST: '127.0.0.1',
    ADMIN_PORT: String(await freePort()),
    DATABASE_URL: databaseUrlFor(user, databaseUrl),
    NATS_URL: servers.nats.urlFor(user),
    LOG_LEVEL: 'warn',
    ...size.environment,
  });
  const events = await Promise.all(
    Array.from({ length: size.events }, async () => {
      const environment = {
        ...(await shared('events')),
        SECRET_KEY: secretKey,
        PLATFORM: 'simulator',
        EVENTS_MAX_GB: '8',
      };
      return new ServiceProcess('events', environment, size);
    }),
  );
  const gateways = await Promise.all(
    Array.from({ length: size.gateways }, async () => {
      const environment = {
        ...(await shared('gateway')),
        PORT: String(await freePort()),
        SECRET_KEY: secretKey,
        PLATFORM_WEBHOOK_SECRET: webhookSecret,
        OWNER_USERNAME: owner.username,
        OWNER_PASSWORD: owner.password,
        // No rate limits: one user sends the whole load.
        RATE_LIMIT_REQUESTS: '0',
        RATE_LIMIT_WRITES: '0',
        MAX_STORED_MB_PER_DAY: '0',
        ...size.environment,
      };
      return new ServiceProcess('gateway', environment, size);
    }),
  );
  const processes = [...events, ...gateways];
  const stop = async (): Promise<void> => {
    await Promise.all(gateways.map((process) => process.stop()));
    await Promise.all(events.map((process) => process.stop()));
  };
  try {
    await Promise.all(processes.map((process) => process.start()));
    const url = gateways[0]?.url ?? '';
    const token = url === '' ? '' : await logIn(url);
    return {
      gateways,
      events,
      webhookSecret,
      token,
      owner,
      request: (method, path, body) => requestJson(method, url + path, `Token ${token}`, body),
      options: size,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function logIn(url: string): Promise<string> {
  return (await requestJson<{ token: string }>('POST', `${url}/api-token-auth`, undefined, owner)).token;
}

/**
 * Sends and receives JSON.
 *
 * @throws Error if the status is not 2xx
 */
export async function requestJson<Reply>(
  method: string,
  url: string,
  authorization?: string,
  body?: object,
): Promise<Reply> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(requestLimitMs),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} returned ${response.status}: ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as Reply; // Safe cast: callers know the API's replies
}

/** A system with several users, because each user may have only a limited number of connections. */
export interface SharedSystem extends System {
  tokens: readonly string[];
}

/** Returns the system with the new users' tokens. */
export async function registerUsers(system: System, count: number, prefix = 'user'): Promise<SharedSystem> {
  const tokens: string[] = [];
  for (let index = 1; index <= count; index += 1) {
    const user = { username: `${prefix}-${index}`, password: `password of a test, ${system.token}` };
    tokens.push((await system.request<{ auth_token: string }>('POST', '/api/v1/users', user)).auth_token);
  }
  return { ...system, tokens };
}
