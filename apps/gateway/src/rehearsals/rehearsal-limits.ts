/** The limits of rehearsals. docs/live.md and the API description get their values from this object. */
export const rehearsalLimits = {
  /** Maximum number of rehearsals that run at a time for the connections of one user, at all gateways together. */
  perUser: 3,
  /** Maximum number of running rehearsals of all users. Each one uses a database connection for a few milliseconds, twice a second. */
  total: 20,
  minSpeed: 0.5,
  maxSpeed: 20,
  /** Maximum events per second of one rehearsal. Parts of a stream with more events per second play more slowly. */
  eventsPerSecond: 1_000,
  /** The longest time range, in days. A stream on the platform lasts at most 48 hours. */
  maxRangeDays: 7,
  /** After this time of being paused or having no connection, a rehearsal ends. */
  maxIdleHours: 12,
  /** A rehearsal that has ended is kept while it is among this many newest rehearsals of its user, including running rehearsals. */
  keptPerUser: 20,
} as const;
