import { findFreePort } from '@stream-events/embedded';

// Stay below 32,768: systems use the ports above for outgoing connections, which could take a port between the check and its use. Each of
// up to 12 Jest workers has its own range of 1,000 ports.
const firstPort = 20_000;
const portsOfWorker = 1_000;
const maxWorkers = 12;

const base = firstPort + (Number(process.env.JEST_WORKER_ID ?? 0) % maxWorkers) * portsOfWorker;
// A random start keeps two test runs on one machine apart.
let next = Math.floor(Math.random() * portsOfWorker);

/** Returns a free TCP port of 127.0.0.1. The same port comes back only after 1,000 calls. */
export function freePort(): Promise<number> {
  const preferred = base + next;
  next = (next + 1) % portsOfWorker;
  return findFreePort(preferred);
}
