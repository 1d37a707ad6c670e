import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

type Resolve = (host: string, options: { all: true }) => Promise<LookupAddress[]>;

const pauseMs = 100;

/**
 * Resolves the name of a host, trying for up to 2 s. The DNS of a container engine or cluster can have gaps while containers start and
 * stop, and a request should not fail because of one. Returns undefined when the name does not resolve, or is no name: connect as usual,
 * which reports the error.
 *
 * @param host a name, an IP address, or the directory of a Unix socket
 */
export async function resolveHost(
  host: string,
  // Less than the time limit of a connection attempt.
  { resolve = lookup, limitMs = 2_000 }: { resolve?: Resolve; limitMs?: number } = {},
): Promise<LookupAddress[] | undefined> {
  if (isIP(host) !== 0 || host.startsWith('/')) return undefined;
  const deadline = performance.now() + limitMs;
  for (;;) {
    // A name that does not resolve is tried again. After the limit, the connection attempt reports the error.
    const addresses = await resolve(host, { all: true }).catch(() => undefined);
    if (addresses || performance.now() >= deadline) return addresses;
    await wait(pauseMs);
  }
}

/** A look-up for a socket that returns these addresses, so that the name is not resolved again. */
export function lookUpIn(addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all === true) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family);
  };
}
