import { findFreePort } from '@stream-events/embedded';

// For outgoing connections, systems use ports from 32,768 on, so they do not take a lower port between the check and its use. Each Jest
// worker has 1,000 ports of its own.
const firstPort = 20_000;
const portsOfWorker = 1_000;
const maxWorkers = 12;

const base = firstPort + (Number(process.env.JEST_WORKER_ID ?? 0) % maxWorkers) * portsOfWorker;
// Random, so that another test run on this machine starts with other ports.
let next = Math.floor(Math.random() * portsOfWorker);

/** Returns a TCP port that is free on 127.0.0.1 and that other callers do not receive soon. */
export function freePort(): Promise<number> {
  const preferred = base + next;
  next = (next + 1) % portsOfWorker;
  return findFreePort(preferred);
}
