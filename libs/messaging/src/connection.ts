import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { eventsUserOf, inboxPrefix, isSupportedNats, oldestNatsVersion } from '@stream-events/contracts';
import { within, type Tracing } from '@stream-events/service';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';
import { traceConnection } from './message-traces.js';

/** Injection token of the service's connection to the NATS account EVENTS. */
export const EVENTS_CONNECTION = Symbol('EVENTS_CONNECTION');

/** How a service reaches NATS. */
export interface NatsOptions {
  /**
   * The cluster's members, each with user and password: `nats://events:…@127.0.0.1:4222`. While a password changes, the list contains each
   * member twice: with the new and with the old password.
   */
  urls: readonly string[];
  /** The name in the server's connection list. */
  name: string;
  /** The NATS account: undefined for the services' account, which carries requests; `EVENTS` for the account with the EVENTS stream. */
  account?: 'EVENTS';
  /** Adds this connection's messages to traces; undefined when tracing is off. */
  tracing?: Tracing | undefined;
}

// How long to retry the first connection: long enough for a broker that starts along with the service. After a longer outage, the service
// fails to start, and the orchestrator restarts it.
const firstConnectionLimitMs = 30_000;
const clockCheckMs = 1_000;

/**
 * Returns options for the NATS client: the credentials from the URLs, the user's inbox prefix, and unlimited reconnect attempts.
 *
 * @param attempt how many attempts the server has rejected, which selects the next password
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
    // Without this option, the client gives up for good after two rejections in a row. Such rejections happen during a change of passwords,
    // when the server knows the new password before the service does.
    ignoreAuthErrorAbort: true,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
    timeout: 5_000,
    // Without this option, the client captures a stack trace for each request, which takes a third of the request's CPU time. The trace
    // would only lead to RequestClient.
    noAsyncTraces: true,
  };
}

/**
 * Connects to NATS, and retries for 30 s.
 *
 * @throws Error with the client's last error when no member of the cluster replies within 30 s; at once when the server rejects all
 * passwords, or is too old
 */
export async function connectNats(options: NatsOptions): Promise<NatsConnection> {
  const deadline = performance.now() + firstConnectionLimitMs;
  let rejected = 0;
  let connection: NatsConnection;
  for (;;) {
    try {
      connection = await connect(natsConnectionOptions(options, rejected));
      break;
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
  await requireSupported(connection);
  superviseConnection(connection);
  if (options.tracing) traceConnection(connection, options.tracing);
  return connection;
}

/** @throws Error when the server is too old, after closing the connection */
async function requireSupported(connection: NatsConnection): Promise<void> {
  const version = connection.info?.version ?? 'without a version';
  if (isSupportedNats(version)) return;
  await connection.close();
  throw new Error(
    `nats-server ${version} at ${connection.getServer()} is too old: this service needs nats-server ${oldestNatsVersion} or newer`,
  );
}

/**
 * Speeds up two reconnects for which the client would wait too long:
 *
 * - When the broker no longer replies, the client first waits until the kernel has sent all data: up to 15 minutes on a network that loses
 *   data, or forever if the broker is frozen. This function destroys the socket instead.
 * - When the clock was set back, the client would wait until the clock reaches the time of its last attempt. This function resets attempts
 *   that lie in the future.
 */
export function superviseConnection(connection: NatsConnection): void {
  // Safe cast: the client has no public access to its socket and servers.
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

/** Sends what the connection has buffered, waiting at most 1 s for the broker, and closes the connection. */
export async function closeNats(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  await within(1_000, connection.drain());
  await connection.close();
}

/** Returns the user for the account; empty when the URL names no user, because the server is set up without users. */
function userOf({ urls, account }: NatsOptions): string {
  const [first] = urls;
  const user = first === undefined ? '' : decodeURIComponent(new URL(first).username);
  return account === 'EVENTS' && user !== '' ? eventsUserOf(user) : user;
}

/** Returns the passwords in the URLs, in order and without duplicates. */
function passwordsOf({ urls }: NatsOptions): string[] {
  return [...new Set(urls.map((text) => decodeURIComponent(new URL(text).password)))];
}

/**
 * Whether the server rejected the password. An authentication timeout is not a rejection: the client was too busy to send its password in
 * time, and a retry can succeed.
 */
function isRejection(error: unknown): boolean {
  if (!(error instanceof Error) || /authentication timeout/i.test(error.message)) return false;
  return /authorization/i.test(`${error.name} ${error.message}`);
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
