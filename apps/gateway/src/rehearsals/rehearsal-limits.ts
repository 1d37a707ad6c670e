/** The limits of rehearsals. docs/live.md and the API description print them from here. */
export const rehearsalLimits = {
  /** Rehearsals to the connections of one user that run at a time, at all gateways. */
  perUser: 3,
  /** Rehearsals of all users. Each one keeps a database connection busy for a few milliseconds, twice a second. */
  total: 20,
  minSpeed: 0.5,
  maxSpeed: 20,
  /** Events per second of one rehearsal. Denser parts of a stream play more slowly. */
  eventsPerSecond: 1_000,
  /** The longest time range. A stream of the platform takes at most 48 hours. */
  maxRangeDays: 7,
  /** How long a rehearsal may be paused, or have no connection, before it ends. */
  maxIdleHours: 12,
  /** Rehearsals that have ended are kept while they are among this many newest ones of the user. */
  keptPerUser: 20,
} as const;
