/** The limits of rehearsals. docs/live.md and the API description get their values from this object. */
export const rehearsalLimits = {
  /** Maximum number of concurrent rehearsals for the connections of one user, across all gateways. */
  perUser: 3,
  /** Maximum number of concurrent rehearsals for all users. Each uses a database connection for a few milliseconds, twice a second. */
  total: 20,
  minSpeed: 0.5,
  maxSpeed: 20,
  /** Maximum events per second per rehearsal. Parts of a stream with more events per second play more slowly. */
  eventsPerSecond: 1_000,
  /** Maximum length of a time range, in days. A stream on the platform lasts at most 48 hours. */
  maxRangeDays: 7,
  /** A rehearsal ends after it has been paused or without a connection for this many hours. */
  maxIdleHours: 12,
  /** An ended rehearsal is kept while it is among its user's newest `keptPerUser` rehearsals, including running rehearsals. */
  keptPerUser: 20,
} as const;
