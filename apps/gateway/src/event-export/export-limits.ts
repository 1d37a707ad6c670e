/** Limits on the exports of one gateway process. */
export interface ExportLimits {
  /** Maximum concurrent exports. Each one takes about 3 MiB and keeps the events service and PostgreSQL busy. */
  exports: number;
  /** Maximum concurrent exports per user. Leaves room for other users. */
  perUser: number;
  /** Maximum events per second for all exports of one user. Faster exports would take CPU time from lists and ingest. */
  eventsPerSecond: number;
  /** Maximum time that an export waits for the events service, in milliseconds. Long enough for a restart of that service. */
  outageMs: number;
  /** The gateway ends an export when data waits and the client reads nothing for this long, in milliseconds. */
  stallMs: number;
}

export const exportLimits: ExportLimits = {
  exports: 4,
  perUser: 2,
  eventsPerSecond: 22_000,
  outageMs: 30_000,
  stallMs: 30_000,
};
