import { setTimeout as wait } from 'node:timers/promises';

/** One path for the gateway, and one for each service behind it. */
const paths = [
  '/api/v1/platform-events?page_size=5', // events
  '/api/v1/streamers', // streamer monitor
  '/api/v1/platform/subscriptions', // platform connector
  '/api/v1/users/me', // gateway
];
const clients = 4;
const pauseMs = 40;
const replyLimitMs = 10_000;

/** Responses with status 200, and failures by path and reason. */
export interface ReadCounts {
  succeeded: number;
  failures: Map<string, number>;
}

/** Starts clients that read through the proxy, one request after the other. Half of them open a connection per request. */
export function startReading(url: string, token: string): { stop(): Promise<ReadCounts> } {
  const counts: ReadCounts = { succeeded: 0, failures: new Map() };
  let isStopped = false;
  const runClient = async (index: number): Promise<void> => {
    const headers = {
      authorization: `Token ${token}`,
      connection: index % 2 === 0 ? 'keep-alive' : 'close',
    };
    for (let turn = index; !isStopped; turn += 1) {
      const path = paths[turn % paths.length] ?? '/';
      const failure = await read(url + path, headers);
      if (failure === undefined) counts.succeeded += 1;
      else {
        const name = `${path.replace(/\?.*/, '')}: ${failure}`;
        counts.failures.set(name, (counts.failures.get(name) ?? 0) + 1);
      }
      await wait(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, index) => runClient(index)));
  return {
    stop: async () => {
      isStopped = true;
      await running;
      return counts;
    },
  };
}

/** Returns the reason of a failure: the status with the gateway's error text, "by the proxy" if there is none, or the network error. */
async function read(url: string, headers: Record<string, string>): Promise<string | undefined> {
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(replyLimitMs) });
    const body = await response.text();
    if (response.status === 200) return undefined;
    return `${response.status} (${/"detail":"([^"]*)"/.exec(body)?.[1] ?? 'by the proxy'})`;
  } catch (error) {
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return String(cause);
  }
}
