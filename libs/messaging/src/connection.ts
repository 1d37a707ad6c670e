import { setTimeout as wait } from 'node:timers/promises';
import { eventsUserOf, inboxPrefix } from '@stream-events/contracts';
import { connect, type ConnectionOptions, type NatsConnection } from '@nats-io/transport-node';

/** How a service reaches NATS. */
export interface NatsOptions {
  /** Members of the cluster, each with user and password: `nats://events:…@127.0.0.1:4222`. */
  urls: readonly string[];
  /** Shown in the server's connection list. */
  name: string;
  /** The NATS account: that of the services, where requests are, unless said otherwise; `EVENTS`: where the EVENTS stream is. */
  account?: 'EVENTS';
}

// Long enough for a broker that starts together with the service, short enough for an orchestrator to notice.
const firstConnectionLimitMs = 30_000;

/** The client's options: credentials from the URL, an inbox prefix of its own, and reconnecting without end. */
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
    // Capturing a stack for each request takes a third of its CPU time, and the stack ends in RequestClient.
    noAsyncTraces: true,
  };
}

/**
 * Connects to NATS; the first connection is tried for half a minute.
 *
 * @throws the last error of the client when no member answered or the credentials are wrong
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
        throw new Error(`could not connect to NATS at ${hosts}${user && ` as ${user}`}: ${describe(error)}`, {
          cause: error,
        });
      }
      await wait(500);
    }
  }
}

/** Closes a connection after what it still has to send, for which a broker that is away gets a second. */
export async function closeNats(connection: NatsConnection): Promise<void> {
  if (connection.isClosed()) return;
  await within(1_000, connection.drain());
  await connection.close();
}

/** Waits for work that is being given up anyway: its failure or slowness must not keep the process from ending. */
export async function within(limitMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    limit,
  ]);
  clearTimeout(timer);
}

/** The user of the account that is wanted; empty when the URL names none, for a server without users. */
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
