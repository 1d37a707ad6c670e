import type { Measurement } from '../bench/measurement.js';

/** A run of a path on one side. */
export interface Run {
  /** CPU microseconds per unit of work, by process, without the load generator. */
  cpuMicroseconds: Readonly<Record<string, number>>;
  /** Units of work per second. */
  perSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Requests that failed, or connections that ended. */
  failed: number;
  /** Events in a request to the events service, on average. Undefined if the path stores no events. */
  eventsPerBatch?: number | undefined;
}

export function toRun({ latencyMs, cpuMicroseconds, ...measurement }: Measurement): Run {
  const { load: _, ...ofServices } = cpuMicroseconds;
  return { ...measurement, p99: latencyMs.p99, cpuMicroseconds: ofServices };
}

export function cpuOf({ cpuMicroseconds }: Pick<Run, 'cpuMicroseconds'>): number {
  return Object.values(cpuMicroseconds).reduce((sum, microseconds) => sum + microseconds, 0);
}

/** Joins several short runs to one. */
export function joinRuns(runs: readonly Run[]): Run {
  const mean = (valueOf: (run: Run) => number): number =>
    runs.reduce((sum, run) => sum + valueOf(run), 0) / runs.length;
  const processes = Object.keys(runs[0]?.cpuMicroseconds ?? {});
  return {
    cpuMicroseconds: Object.fromEntries(
      processes.map((name) => [name, mean(({ cpuMicroseconds }) => cpuMicroseconds[name] ?? 0)]),
    ),
    perSecond: mean(({ perSecond }) => perSecond),
    p99: mean(({ p99 }) => p99),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
    eventsPerBatch: runs[0]?.eventsPerBatch && mean(({ eventsPerBatch = 0 }) => eventsPerBatch),
  };
}
