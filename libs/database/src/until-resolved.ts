import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

type Resolve = (host: string) => Promise<unknown>;

const pauseMs = 100;

/**
 * Waits up to 2 s until the name of a host resolves. The DNS of a container engine or cluster can have gaps while containers start and
 * stop, and a request should not fail because of one. Never throws: the connection attempt that follows reports the error.
 *
 * @param host a name, an IP address, or the directory of a Unix socket
 */
export async function untilResolved(
  host: string,
  // Less than the time limit of a connection attempt.
  { resolve = lookup, limitMs = 2_000 }: { resolve?: Resolve; limitMs?: number } = {},
): Promise<void> {
  if (isIP(host) !== 0 || host.startsWith('/')) return;
  const deadline = performance.now() + limitMs;
  while (!(await canResolve(host, resolve)) && performance.now() < deadline) await wait(pauseMs);
}

function canResolve(host: string, resolve: Resolve): Promise<boolean> {
  return resolve(host).then(
    () => true,
    () => false,
  );
}
