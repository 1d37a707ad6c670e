import { maxPublishingDelayMs } from '../relay/late-events.js';

const dayMs = 24 * 3_600_000;

/** The length of a partition. */
export type PartitionWidth = 'day' | 'month';

// From this number of days on, partitions are monthly. With fewer days, monthly partitions would leave a large part of the removal to
// row-by-row deletes. With more days, there would be too many daily partitions.
const minDaysOfMonthlyPartitions = 90;

// Minimum number of days that dead letters are kept. Gives an owner time to notice a dead letter and to retry or discard it, even when
// events are kept for only a day.
const minDaysOfDeadLetters = 30;

/**
 * How long events are kept: the current day (UTC) and the given number of days before it. At the end of each day, the oldest day of events
 * is due for removal. An event is therefore kept for at least the given number of days, and for less than one day more.
 */
export class RetentionPolicy {
  static readonly forever = new RetentionPolicy(0);

  /** @param days 0 keeps events forever */
  constructor(readonly days: number) {}

  get partitionWidth(): PartitionWidth {
    return this.days > 0 && this.days < minDaysOfMonthlyPartitions ? 'day' : 'month';
  }

  /** Returns the time before which received events are removed, in milliseconds since 1970; undefined when all are kept. */
  cutoff(now: number): number | undefined {
    return this.days === 0 ? undefined : beginOfDay(now) - this.days * dayMs;
  }

  /** Returns for how many milliseconds a partition that ends at this time has been due for removal. */
  overdueMs(endsAt: number, now: number): number {
    return this.days === 0 ? 0 : Math.max(0, now - this.days * dayMs - endsAt);
  }

  /**
   * Returns the time before which dead letters are removed (by their first failure), in milliseconds since 1970; undefined when all are
   * kept. A dead letter is an accepted event, so it is kept for at least as long as a stored event, and for at least 30 days.
   */
  deadLetterCutoff(now: number): number | undefined {
    return this.days === 0 ? undefined : beginOfDay(now) - Math.max(this.days, minDaysOfDeadLetters) * dayMs;
  }

  /**
   * Returns the maximum age of a message on the EVENTS stream in milliseconds: the given number of days, but less than the age at which
   * the store removes the event. The stream counts the age from the time of publishing. `StreamTrimmer` removes events that were
   * published later than usual.
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
