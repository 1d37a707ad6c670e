import type { ExportLimits } from './export-limits.js';

/** What the operating system has accepted for a client so far, and whether more data waits for the client. */
export interface Sample {
  sentBytes: number;
  isWaiting: boolean;
}

/** Measures whether a client reads too slowly. Time in which no data waits for the client does not count. */
export class ReaderPace {
  /** When the measured span began, and the bytes sent until then. */
  private start: { at: number; sentBytes: number } | undefined;

  constructor(private readonly limits: Pick<ExportLimits, 'minBytesPerSecond' | 'slowMs'>) {}

  /** Call this often during each `slowMs`. Returns true once data has waited for `slowMs` and the client was too slow in this time. */
  isTooSlow({ sentBytes, isWaiting }: Sample, now: number): boolean {
    const { minBytesPerSecond, slowMs } = this.limits;
    if (!isWaiting) {
      this.start = undefined;
      return false;
    }
    this.start ??= { at: now, sentBytes };
    if (now - this.start.at < slowMs) return false;
    const seconds = (now - this.start.at) / 1_000;
    const isSlow = sentBytes - this.start.sentBytes < minBytesPerSecond * seconds;
    this.start = { at: now, sentBytes };
    return isSlow;
  }
}
