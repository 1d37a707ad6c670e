import { setTimeout as wait } from 'node:timers/promises';
import { eventsUserOf, inboxPrefix } from '@stream-events/contracts';
import { within, type Tracing } from '@stream-events/service';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { traceConnection } from './message-traces.js';

/** Injection token of a service's NATS connection in the account EVENTS. */
export const EVENTS_CONNECTION = Symbol('EVENTS_CONNECTION');

/** How a service reaches NATS. */
export interface NatsOptions {
  /**
   * The members of the cluster, each with user and password: `nats://events:…@127.0.0.1:4222`. While a password is being changed, the
   * list has each member twice, with the new and the old password.
   */
  urls: readonly string[];
  /** Shown in the server's connection list. */
  name: string;
  /** The NATS account. Without a value: the account of the services, for requests. `EVENTS`: the account of the EVENTS stream. */
  account?: 'EVENTS';
  /** Makes the messages part of traces. Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

// Long enough for a broker that starts together with the service. An orchestrator sees a longer outage as a failed start.
const firstConnectionLimitMs = 30_000;

/**
 * The options of the NATS client: credentials from the URL, the inbox prefix of the user, and endless reconnecting.
 *
 * @param attempt the attempts before this one, which tried other passwords
 */
export function natsConnectionOptions(
  options: NatsOptions,
  attempt = 0,
): ConnectionOptions & { inboxPrefix: string } {
  const parsed = options.urls.map((text) => new URL(text));
  const user = userOf(options);
  const passwords = passwordsOf(options);
  let connections = attempt;
  return {
    servers: [...new Set(parsed.map((address) => address.host))],
    ...(user !== '' && {
      authenticator: () => ({ user, pass: passwords[connections++ % passwords.length] ?? '' }),
    }),
    ...(parsed[0]?.protocol === 'tls:' && { tls: {} }),
    name: options.name,
    inboxPrefix: inboxPrefix(user || options.name),
    maxReconnectAttempts: -1,
    // Without this option, the client gives up permanently when two passwords are rejected in a row. That happens while a password is
    // being changed, or when the server gets a new password first.
    ignoreAuthErrorAbort: true,
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
 * @throws Error with the last error of the client when no member of the cluster replied; immediately when the server rejects all
 * passwords
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const deadline = Date.now() + firstConnectionLimitMs;
  let rejected = 0;
  for (;;) {
    try {
      const connection = await connect(natsConnectionOptions(options, rejected));
      if (options.tracing) traceConnection(connection, options.tracing);
      return connection;
    } catch (error) {
      const isRejected = isRejection(error);
      if (isRejected) rejected += 1;
      if (Date.now() > deadline || rejected === passwordsOf(options).length) {
        const hosts = [...new Set(options.urls.map((text) => new URL(text).host))].join(', ');
        const user = userOf(options);
        throw new Error(`cannot connect to NATS at ${hosts}${user && ` as ${user}`}: ${describe(error)}`, {
          cause: error,
        });
      }
      if (!isRejected) await wait(500);
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

/** The passwords in the URLs, each once, in order. */
function passwordsOf({ urls }: NatsOptions): string[] {
  return [...new Set(urls.map((text) => decodeURIComponent(new URL(text).password)))];
}

/** Whether the server rejects the password. It reports a timeout when a busy client is too slow to send one: another attempt can help. */
function isRejection(error: unknown): boolean {
  if (!(error instanceof Error) || /authentication timeout/i.test(error.message)) return false;
  return /authorization/i.test(`${error.name} ${error.message}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
