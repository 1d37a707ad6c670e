import { setTimeout as wait } from 'node:timers/promises';
import { eventsUserOf, inboxPrefix } from '@stream-events/contracts';
import { within } from '@stream-events/service';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';

/** Injection token of a service's NATS connection in the account EVENTS. */
export const EVENTS_CONNECTION = Symbol('EVENTS_CONNECTION');

/** How a service reaches NATS. */
export interface NatsOptions {
  /** The members of the cluster, each with user and password: `nats://events:…@127.0.0.1:4222`. */
  urls: readonly string[];
  /** Shown in the server's connection list. */
  name: string;
  /** The NATS account. Without a value: the account of the services, for requests. `EVENTS`: the account of the EVENTS stream. */
  account?: 'EVENTS';
}

// Long enough for a broker that starts together with the service. An orchestrator sees a longer outage as a failed start.
const firstConnectionLimitMs = 30_000;

/** The options of the NATS client: credentials from the URL, the inbox prefix of the user, and endless reconnecting. */
export function natsConnectionOptions(options: NatsOptions): ConnectionOptions & { inboxPrefix: string } {
  const parsed = options.urls.map((text) => new URL(text));
  const user = userOf(options);
  return {
    servers: parsed.map((address) => address.host),
    ...(user !== '' && { user, pass: decodeURIComponent(parsed[0]?.password ?? '') }),
    ...(parsed[0]?.protocol === 'tls:' && { tls: {} }),
    name: options.name,
    inboxPrefix: inboxPrefix(user || options.name),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    // Capturing a stack trace for each request takes a third of its CPU time, and the trace would end in RequestClient.
    noAsyncTraces: true,
  };
}

/**
 * Connects to NATS, and retries for 30 s.
 *
 * @throws Error with the last error of the client when no member of the cluster replied; immediately when the credentials
 * are wrong
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const deadline = Date.now() + firstConnectionLimitMs;
  for (;;) {
    try {
      return await connect(natsConnectionOptions(options));
    } catch (error) {
      if (Date.now() > deadline || isAuthorizationError(error)) {
        const hosts = options.urls.map((text) => new URL(text).host).join(', ');
        const user = userOf(options);
        throw new Error(`cannot connect to NATS at ${hosts}${user && ` as ${user}`}: ${describe(error)}`, {
          cause: error,
        });
      }
      await wait(500);
    }
  }
}

/** Closes a connection after sending its buffered messages. Waits for the broker for at most 1 s. */
export async function closeNats(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  await within(1_000, connection.drain());
  await connection.close();
}

/** The user for the account. Empty when the URL names no user, because the server then has no users. */
function userOf({ urls, account }: NatsOptions): string {
  const [first] = urls;
  const user = first === undefined ? '' : decodeURIComponent(new URL(first).username);
  return account === 'EVENTS' && user !== '' ? eventsUserOf(user) : user;
}

function isAuthorizationError(error: unknown): boolean {
  return error instanceof Error && /authorization/i.test(`${error.name} ${error.message}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
