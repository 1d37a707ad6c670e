import { cpuSeconds, cpuSecondsOfFamily } from './processes.js';

/** Processes to measure: Node processes by role, the servers, and the load generator. */
export interface MeasuredProcesses {
  pids: Record<string, readonly number[]>;
  servers: { nats: { pid: number }; postgres: { pid: number } };
  load: { pid: number };
}

/** Returns a function that reads each role's CPU seconds so far. */
export function cpuReader({ pids, servers, load }: MeasuredProcesses): () => Record<string, number> {
  return () => ({
    ...Object.fromEntries(
      Object.entries(pids).map(([role, ids]) => [role, ids.reduce((sum, id) => sum + cpuSeconds(id), 0)]),
    ),
    NATS: cpuSeconds(servers.nats.pid),
    PostgreSQL: cpuSecondsOfFamily(servers.postgres.pid),
    load: cpuSeconds(load.pid),
  });
}

/** CPU between two readings, in microseconds per unit of work, by role. */
export function cpuMicrosecondsPer(
  count: number,
  before: Record<string, number>,
  after: Record<string, number>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([role, seconds]) => [role, ((seconds - (before[role] ?? 0)) / count) * 1e6]),
  );
}
