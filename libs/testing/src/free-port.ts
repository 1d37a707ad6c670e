import { findFreePort } from '@stream-events/embedded';

// Systems use ports from 32,768 on for outgoing connections, so no outgoing connection takes a lower port between the check and the use of
// the port. Each Jest worker has its own range of 1,000 ports.
const firstPort = 20_000;
const portsOfWorker = 1_000;
const maxWorkers = 12;

const base = firstPort + (Number(process.env.JEST_WORKER_ID ?? 0) % maxWorkers) * portsOfWorker;
// Start at a random port, so that another test run on this machine starts at another port.
let next = Math.floor(Math.random() * portsOfWorker);

/** Returns a TCP port that is free on 127.0.0.1 and that other callers do not receive soon. */
export function freePort(): Promise<number> {
  const preferred = base + next;
  next = (next + 1) % portsOfWorker;
  return findFreePort(preferred);
}
