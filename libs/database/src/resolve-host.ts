import { ADDRCONFIG, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket, type TcpSocketConnectOpts } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { within } from '@stream-events/service';
import type pg from 'pg';

type Resolve = (host: string, options: { all: true; hints: number }) => Promise<LookupAddress[]>;

interface ResolveOptions {
  /** Replaces the DNS lookup in tests. */
  resolve?: Resolve;
  /** Default: 2 s. */
  limitMs?: number;
}

const pauseMs = 100;

/**
 * Resolves a host name to its addresses. Retries for up to 2 s. The DNS of a container engine or cluster can have gaps while containers
 * start and stop, and a gap should not make a request fail. Returns undefined when `host` does not resolve or is not a name. The caller
 * then connects as usual, and the attempt reports the error.
 *
 * @param host a name, an IP address, or the directory of a Unix socket
 */
export async function resolveHost(
  host: string,
  // Shorter than the limit of a connection attempt (3 s).
  { resolve = lookup, limitMs = 2_000 }: ResolveOptions = {},
): Promise<LookupAddress[] | undefined> {
  if (isIP(host) !== 0 || host.startsWith('/')) return undefined;
  const deadline = performance.now() + limitMs;
  for (let leftMs = limitMs; leftMs > 0; leftMs = deadline - performance.now()) {
    let found = undefined as LookupAddress[] | undefined;
    const resolving = resolve(host, { all: true, hints: ADDRCONFIG }).then((addresses) => {
      found = addresses;
    });
    await within(leftMs, resolving);
    if (found) return found;
    await wait(Math.min(pauseMs, Math.max(0, deadline - performance.now())));
  }
  return undefined;
}

/** Returns a lookup function that always answers with these addresses, so that a socket does not resolve the name again. */
export function lookUpIn(addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/**
 * Resolves a client's host before the client connects, because pg itself would fail at the first gap in the DNS.
 *
 * @throws when the connection attempt has timed out: the pool has destroyed the socket by then, but pg would still connect
 * with it
 */
export async function resolveHostOf(client: pg.Client, options?: ResolveOptions): Promise<void> {
  const addresses = await resolveHost(client.host, options);
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection; // Safe cast: pg's client has a connection with a socket.
  if (stream.destroyed) throw new Error('timeout exceeded when trying to connect');
  if (!addresses) return;
  const connect = stream.connect.bind(stream) as (options: TcpSocketConnectOpts) => Socket; // Safe cast: `connect` has this form.
  const lookup = lookUpIn(addresses);
  const connectTo = (port: number, host: string): Socket => connect({ port, host, lookup });
  stream.connect = connectTo as Socket['connect']; // Safe cast: pg calls this form.
}
