/** Limits on the exports of one gateway process. */
export interface ExportLimits {
  /** All exports. An export holds about 3 MiB in memory, and keeps the events service and PostgreSQL busy. */
  exports: number;
  /** Exports of the same user, so that one user leaves room for others. */
  perUser: number;
  /** How many events the exports of one user read per second, together. Faster exports would take the cores that lists and ingest need. */
  eventsPerSecond: number;
  /** How long an export waits for the events service before it gives up, in milliseconds. Longer than a restart. */
  outageMs: number;
  /** A client that reads nothing for this long counts as gone, in milliseconds. */
  stallMs: number;
}

export const exportLimits: ExportLimits = {
  exports: 4,
  perUser: 2,
  eventsPerSecond: 22_000,
  outageMs: 30_000,
  stallMs: 30_000,
};
