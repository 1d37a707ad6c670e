import { maxPublishingDelayMs } from '../relay/late-events.js';

const dayMs = 24 * 3_600_000;

/** The length of a partition. */
export type PartitionWidth = 'day' | 'month';

// If RETENTION_DAYS is 0 or at least this, partitions are monthly. With fewer days, monthly partitions would leave too much to delete row
// by row. With more, there would be too many daily partitions.
const minDaysOfMonthlyPartitions = 90;

// Minimum number of days to keep dead letters, so that an owner has time to notice one, even when events are kept for only a day.
const minDaysOfDeadLetters = 30;

/**
 * How long to keep events: the current day (UTC) and `days` days before it. When a day ends, the oldest day of events becomes due for
 * removal. Each event is therefore kept for at least `days` days, and less than one day more.
 */
export class RetentionPolicy {
  static readonly forever = new RetentionPolicy(0);

  /** @param days 0 keeps events forever */
  constructor(readonly days: number) {}

  get partitionWidth(): PartitionWidth {
    return this.days > 0 && this.days < minDaysOfMonthlyPartitions ? 'day' : 'month';
  }

  /** Events received before this time (milliseconds since 1970) are removed; undefined when all are kept. */
  cutoff(now: number): number | undefined {
    return this.days === 0 ? undefined : beginOfDay(now) - this.days * dayMs;
  }

  /** Returns for how many milliseconds a partition with this end has been overdue for removal. */
  overdueMs(endsAt: number, now: number): number {
    return this.days === 0 ? 0 : Math.max(0, now - this.days * dayMs - endsAt);
  }

  /**
   * Dead letters whose first failure was before this time (milliseconds since 1970) are removed; undefined when all are kept. A dead letter
   * is an accepted event, so it stays at least as long as a stored event, and at least 30 days.
   */
  deadLetterCutoff(now: number): number | undefined {
    return this.days === 0 ? undefined : beginOfDay(now) - Math.max(this.days, minDaysOfDeadLetters) * dayMs;
  }

  /**
   * Returns the maximum age of a message on the EVENTS stream, in milliseconds: `maxAgeDays`, but always less than the age at which the
   * store removes the event. On the stream, the age counts from publishing; `StreamTrimmer` removes events that were published late.
   */
  limitStreamAge(maxAgeDays: number): number {
    const maxAgeMs = maxAgeDays * dayMs;
    return this.days === 0 ? maxAgeMs : Math.min(maxAgeMs, this.days * dayMs - maxPublishingDelayMs);
  }
}

/** Returns the first millisecond of the day (UTC). */
function beginOfDay(milliseconds: number): number {
  return Math.floor(milliseconds / dayMs) * dayMs;
}
