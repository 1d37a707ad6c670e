/** Limits on the exports of one gateway process. */
export interface ExportLimits {
  /** Maximum concurrent exports. Each one takes about 3 MiB and keeps the events service and PostgreSQL busy. */
  exports: number;
  /** How many of these exports only owners can run, so that other users cannot keep owners out. */
  forOwners: number;
  /** Maximum concurrent exports per user. Leaves room for other users. A named token can run half as many. */
  perUser: number;
  /** Maximum events per second for all exports of one user. Faster exports would take CPU time from lists and ingest. */
  eventsPerSecond: number;
  /** Maximum time that an export waits for the events service, in milliseconds. Long enough for a restart of that service. */
  outageMs: number;
  /** The gateway ends an export if data waits and the client reads fewer bytes per second than this, for `slowMs`. */
  minBytesPerSecond: number;
  slowMs: number;
}

export const exportLimits: ExportLimits = {
  exports: 4,
  forOwners: 1,
  perUser: 2,
  eventsPerSecond: 22_000,
  outageMs: 30_000,
  minBytesPerSecond: 16 * 1024,
  slowMs: 30_000,
};
