/** Limits on the exports of one gateway process. */
export interface ExportLimits {
  /** All exports. An export holds about 3 MiB in memory, and keeps the events service and PostgreSQL busy. */
  exports: number;
  /** Exports with the same token, so that one client leaves room for others. */
  perToken: number;
  /** How many events an export reads per second. Faster exports would take the cores that lists and ingest need. */
  eventsPerSecond: number;
  /** How long an export waits for the events service before it gives up, in milliseconds. Longer than a restart. */
  outageMs: number;
  /** A client that reads nothing for this long counts as gone, in milliseconds. */
  stallMs: number;
}

export const exportLimits: ExportLimits = {
  exports: 4,
  perToken: 2,
  eventsPerSecond: 30_000,
  outageMs: 30_000,
  stallMs: 30_000,
};
