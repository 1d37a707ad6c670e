import { findFreePort } from '@stream-events/embedded';

// Below the ports that systems give to outgoing connections (from 32,768 on), which would take one between here and its use; and
// each worker of Jest has a thousand of its own.
const firstPort = 20_000;
const portsOfWorker = 1_000;
const maxWorkers = 12;

const base = firstPort + (Number(process.env.JEST_WORKER_ID ?? 0) % maxWorkers) * portsOfWorker;
// Another run on this machine begins elsewhere.
let next = Math.floor(Math.random() * portsOfWorker);

/** A TCP port that is free on 127.0.0.1 at this moment, and that nobody else is given soon. */
export function freePort(): Promise<number> {
  const preferred = base + next;
  next = (next + 1) % portsOfWorker;
  return findFreePort(preferred);
}
