/** Limits of rehearsals. docs/live.md and the API description take their values from here. */
export const rehearsalLimits = {
  /** Maximum running rehearsals per user, across all gateways. A rehearsal counts toward the user who receives it. */
  perUser: 3,
  /** Maximum running rehearsals overall. Each one uses a database connection for a few milliseconds, twice a second. */
  total: 20,
  minSpeed: 0.5,
  maxSpeed: 20,
  /** Maximum events per second in one rehearsal. Busier parts of a stream play more slowly. */
  eventsPerSecond: 1_000,
  /** Maximum time range in days. A stream on the platform lasts at most 48 hours. */
  maxRangeDays: 7,
  /** A rehearsal ends after it has been paused, or has had no connection, for this many hours. */
  maxIdleHours: 12,
  /** Each new rehearsal deletes the user's ended rehearsals that are not among this many newest ones. Running rehearsals count too. */
  keptPerUser: 20,
} as const;
