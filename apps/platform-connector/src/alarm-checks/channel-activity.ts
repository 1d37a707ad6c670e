import type { SilenceTimes } from '../alarms/alarm-times.js';

// The maximum number of false alarms to expect per day that a channel is live: one in 10,000 days.
const maxChance = 1e-4;
const dayMs = 86_400_000;
// The minimum number of events for a decision. Fewer events make the estimated rate too uncertain.
const minEvents = 30;
const windowIntervals = 5;
// A silence is ordinary if it is shorter than this factor times the longest earlier silence.
const gapFactor = 3;

/** The times from which events and silence count, in milliseconds since 1970. */
export interface Watch {
  /** The start of the stream. Earlier events do not count toward the channel's rate. */
  liveSince: number;
  /** The time from which silence counts. Before this time, events may be missing for another reason. */
  watchedSince: number;
}

/**
 * Counts the recent events of one channel per minute, and decides whether its current silence is ordinary. A silence raises an alarm when
 * both conditions hold:
 *
 * - The silence is at least three times as long as every other silence in the hour before the last event. A live channel has ordinary
 *   breaks, because its events are not independent.
 * - By chance, a live channel has such a silence at most once in 10,000 days, according to at least one of two models:
 *   1. Events arrive at the rate of the quietest five minutes. The counts per minute vary as much as the observed ones (negative binomial),
 *      but at least as much as Poisson counts.
 *   2. Events arrive at the rate of the quietest minute, with Poisson counts.
 *
 * On a channel with 30 or more events per minute, a silence of one minute can raise an alarm. On a quiet channel, an alarm needs a silence
 * of hours; on a channel with hardly any events, no silence raises an alarm. The counts cover the hour before the last event, so a long
 * silence does not erase them. All times are in milliseconds since 1970, by the broker's clock.
 */
export class ChannelActivity {
  private readonly counts: Uint32Array;
  /** The longest silence that ended in each interval. */
  private readonly gaps: Float64Array;
  private firstInterval = Number.NaN;
  private lastInterval = Number.NaN;
  private last = Number.NaN;

  constructor(private readonly times: SilenceTimes) {
    this.counts = new Uint32Array(times.intervals);
    this.gaps = new Float64Array(times.intervals);
  }

  get lastAt(): number {
    return this.last;
  }

  /** Adds an event. Add events in order of time. */
  add(at: number): void {
    const interval = Math.floor(at / this.times.intervalMs);
    if (Number.isNaN(this.last)) {
      [this.firstInterval, this.lastInterval, this.last] = [interval, interval, at];
    }
    this.advanceTo(interval);
    const index = this.lastInterval % this.times.intervals;
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.gaps[index] = Math.max(this.gaps[index] ?? 0, at - this.last);
    this.last = Math.max(this.last, at);
  }

  /** Returns the average number of events per minute since `liveSince`. Counts go back one hour at most. */
  rateSince(liveSince: number): number {
    const counts = this.memory(liveSince).map((index) => this.counts[index] ?? 0);
    return (sumOf(counts) / (Math.max(1, counts.length) * this.times.intervalMs)) * 60_000;
  }

  /**
   * Whether the current silence is so long that events are probably missing. The silence begins at the last event or, if later, at
   * `watchedSince`.
   */
  isSilent(now: number, { liveSince, watchedSince }: Watch): boolean {
    const silence = now - Math.max(this.last, watchedSince);
    if (!(silence >= this.times.minSilenceMs)) return false;
    const memory = this.memory(liveSince);
    const counts = memory.map((index) => this.counts[index] ?? 0);
    if (counts.length < this.times.minIntervals || sumOf(counts) < minEvents) return false;
    const longestGap = Math.max(...[...memory, this.lastIndex].map((index) => this.gaps[index] ?? 0));
    if (silence < gapFactor * longestGap) return false;
    const quietest = lowerRate(Math.min(...counts)) / this.times.intervalMs;
    const quietWindow = lowerRate(lowestSum(counts)) / (windowIntervals * this.times.intervalMs);
    return isImprobable(quietest, silence) || isImprobable(quietWindow, silence * certaintyOf(counts));
  }

  private get lastIndex(): number {
    return this.lastInterval % this.times.intervals;
  }

  /** Returns the indexes of the complete intervals from the start of the stream to the last event, oldest first. */
  private memory(liveSince: number): number[] {
    const { intervalMs, intervals } = this.times;
    const oldest = this.lastInterval - intervals + 1;
    const first = Math.max(oldest, this.firstInterval + 1, Math.ceil(liveSince / intervalMs));
    const count = Math.max(0, this.lastInterval - first);
    return Array.from({ length: count }, (_, index) => (first + index) % intervals);
  }

  private advanceTo(interval: number): void {
    const { intervals } = this.times;
    const skipped = interval - this.lastInterval;
    if (skipped <= 0) return;
    for (let step = 1; step <= Math.min(skipped, intervals); step += 1) {
      const index = (this.lastInterval + step) % intervals;
      this.counts[index] = 0;
      this.gaps[index] = 0;
    }
    this.lastInterval = interval;
  }
}

/**
 * Whether a silence of `silence` milliseconds is improbable when `rate` events arrive per millisecond. Each event starts a silence, so
 * `rate` × day silences start per day. Each one lasts at least this long with probability e^(-rate × silence).
 */
function isImprobable(rate: number, silence: number): boolean {
  return rate > 0 && rate * silence >= Math.log(Math.max(1, rate * dayMs) / maxChance);
}

/** Returns a cautious estimate: the count minus its standard deviation, which is the square root of the count. */
function lowerRate(count: number): number {
  return Math.max(0, count - Math.sqrt(count));
}

/**
 * Returns how strongly a silence proves that events are missing, as a factor of at most 1. It is 1 when the counts vary like those of
 * independent events, and smaller when they vary more. If the variance is D × mean, an interval is empty with probability e^(-mean × ln D /
 * (D - 1)).
 */
function certaintyOf(counts: readonly number[]): number {
  const mean = sumOf(counts) / counts.length;
  const variance = sumOf(counts.map((count) => (count - mean) ** 2)) / (counts.length - 1);
  const dispersion = variance / mean;
  return dispersion <= 1.01 ? 1 : Math.log(dispersion) / (dispersion - 1);
}

/** Returns the lowest sum of five consecutive counts. */
function lowestSum(counts: readonly number[]): number {
  const sums = counts
    .slice(windowIntervals - 1)
    .map((_, first) => sumOf(counts.slice(first, first + windowIntervals)));
  return Math.min(...sums);
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
