/** Limits on the exports of one gateway process. */
export interface ExportLimits {
  /** Maximum number of concurrent exports. An export holds about 3 MiB in memory, and keeps the events service and PostgreSQL busy. */
  exports: number;
  /** Maximum number of concurrent exports per user, so that each user leaves room for other users. */
  perUser: number;
  /**
   * Maximum number of events per second that all exports of one user together read. Faster exports would take CPU time from lists and
   * ingest.
   */
  eventsPerSecond: number;
  /** How long an export waits for the events service before the export fails, in milliseconds. Longer than a restart of that service. */
  outageMs: number;
  /** How long a client may read nothing before the gateway treats the client as gone, in milliseconds. */
  stallMs: number;
}

export const exportLimits: ExportLimits = {
  exports: 4,
  perUser: 2,
  eventsPerSecond: 22_000,
  outageMs: 30_000,
  stallMs: 30_000,
};
