import type { Socket } from 'node:net';
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
  /** The NATS account. Undefined: the account of the services, for requests. `EVENTS`: the account of the EVENTS stream. */
  account?: 'EVENTS';
  /** Adds the connection's messages to traces. Undefined when traces are off. */
  tracing?: Tracing | undefined;
}

// How long to retry the first connection: long enough for a broker that starts together with the service. After a longer outage, the start
// fails, and the orchestrator tries again.
const firstConnectionLimitMs = 30_000;
const clockCheckMs = 1_000;

/**
 * Returns the options for the NATS client: the credentials from the URLs, the inbox prefix of the user, and unlimited reconnect attempts.
 *
 * @param attempt the number of earlier attempts that the server rejected; selects the next password
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
    // Without this option, the client gives up permanently when two passwords are rejected in a row. Two rejections in a row happen during
    // a change of passwords, when the server has the new password before the service.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    // Without this option, the client captures a stack trace for each request. The capture takes a third of the request's CPU
    // time, and the trace only reaches RequestClient.
    noAsyncTraces: true,
  };
}

/**
 * Connects to NATS. Retries for 30 s.
 *
 * @throws Error with the client's last error when no member of the cluster replied in this time; immediately when the server rejects all
 * passwords
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const deadline = performance.now() + firstConnectionLimitMs;
  let rejected = 0;
  for (;;) {
    try {
      const connection = await connect(natsConnectionOptions(options, rejected));
      superviseConnection(connection);
      if (options.tracing) traceConnection(connection, options.tracing);
      return connection;
    } catch (error) {
      const isRejected = isRejection(error);
      if (isRejected) rejected += 1;
      if (performance.now() > deadline || rejected === passwordsOf(options).length) {
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

/**
 * Helps the client in two situations in which it would wait too long before it connects again.
 *
 * - The broker no longer replies. The client first waits until the kernel has taken all data, which takes up to 15 minutes when the network
 *   loses the data, or forever when the broker is frozen. This function destroys the socket.
 * - The clock was set back. The client compares the time with that of its last attempt, so it would wait until the clock has caught up. This
 *   function makes the client forget attempts in the future.
 */
export function superviseConnection(connection: NatsConnection): void {
  // Safe cast: the client has no public access to its socket and its servers.
  const { protocol } = connection as unknown as { protocol: ClientInternals };
  const forgetFutureAttempts = (): void => {
    for (const server of protocol.servers.servers)
      if (server.lastConnect > Date.now()) server.lastConnect = 0;
  };
  const follow = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    for await (const { type } of connection.status()) {
      if (type === 'staleConnection') protocol.transport.socket?.destroy();
      if (type === 'disconnect') timer ??= setInterval(forgetFutureAttempts, clockCheckMs);
      if (type !== 'reconnect') continue;
      clearInterval(timer);
      timer = undefined;
    }
    clearInterval(timer);
  };
  void follow();
}

interface ClientInternals {
  transport: { socket?: Socket };
  servers: { servers: { lastConnect: number }[] };
}

/** Sends the buffered messages of a connection and closes the connection. Waits at most 1 s for the broker. */
export async function closeNats(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  await within(1_000, connection.drain());
  await connection.close();
}

/** The user for the account. Empty when the URL names no user, because the server is configured without users. */
function userOf({ urls, account }: NatsOptions): string {
  const [first] = urls;
  const user = first === undefined ? '' : decodeURIComponent(new URL(first).username);
  return account === 'EVENTS' && user !== '' ? eventsUserOf(user) : user;
}

/** The passwords in the URLs, each once, in order. */
function passwordsOf({ urls }: NatsOptions): string[] {
  return [...new Set(urls.map((text) => decodeURIComponent(new URL(text).password)))];
}

/**
 * Whether the server rejected the password. An authentication timeout does not count: the client was too busy to send the password in time,
 * so another attempt can succeed.
 */
function isRejection(error: unknown): boolean {
  if (!(error instanceof Error) || /authentication timeout/i.test(error.message)) return false;
  return /authorization/i.test(`${error.name} ${error.message}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
