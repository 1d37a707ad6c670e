import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Counts since the last call. */
export interface LoadCounts {
  seconds: number;
  succeeded: number;
  /** Unexpected responses by status. A broken connection counts as `broken`. */
  failed: Record<string, number>;
  latencyMs: { p50: number; p95: number; p99: number; max: number };
  /** Due requests that wait for a connection. 0 in a closed loop. */
  backlog: number;
}

export function countFailed({ failed }: Pick<LoadCounts, 'failed'>): number {
  return Object.values(failed).reduce((sum, count) => sum + count, 0);
}

export class ResponseCounter {
  private latencies: RecordableHistogram = createHistogram();
  private succeeded = 0;
  private failed: Record<string, number> = {};
  private markedAt = performance.now();

  noteLatency(milliseconds: number): void {
    this.latencies.record(Math.max(1, Math.round(milliseconds * 1e6)));
  }

  noteSuccess(): void {
    this.succeeded += 1;
  }

  noteFailure(what: string): void {
    this.failed[what] = (this.failed[what] ?? 0) + 1;
  }

  take(backlog: number): LoadCounts {
    const { latencies, succeeded, failed, markedAt } = this;
    this.latencies = createHistogram();
    this.succeeded = 0;
    this.failed = {};
    this.markedAt = performance.now();
    const milliseconds = (nanoseconds: number): number => nanoseconds / 1e6;
    return {
      seconds: (this.markedAt - markedAt) / 1_000,
      succeeded,
      failed,
      latencyMs: {
        p50: milliseconds(latencies.percentile(50)),
        p95: milliseconds(latencies.percentile(95)),
        p99: milliseconds(latencies.percentile(99)),
        max: milliseconds(latencies.max),
      },
      backlog,
    };
  }
}
