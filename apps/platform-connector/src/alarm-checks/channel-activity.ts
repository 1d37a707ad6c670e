import type { SilenceTimes } from '../alarms/alarm-times.js';

// The maximum expected number of false alarms per day that a channel is live: one per 10,000 days.
const maxChance = 1e-4;
const dayMs = 86_400_000;
// The minimum number of events for a decision. With fewer events, the rate estimate is too uncertain.
const minEvents = 30;
const windowIntervals = 5;
// A silence is ordinary if it is shorter than the longest earlier silence times this factor.
const gapFactor = 3;

/** The times from which events and silence count, in milliseconds since 1970. */
export interface Watch {
  /** The start of the stream. Earlier events do not count toward the channel's rate. */
  liveSince: number;
  /** The time from which the silence counts. Before this time, events may have been missing for another reason. */
  watchedSince: number;
}

/**
 * Counts the recent events of one channel per minute, and decides whether its current silence is ordinary. A silence is an alarm when both
 * conditions hold:
 *
 * - The silence is at least three times as long as every earlier silence in the last hour. Events are not independent, so a live channel
 *   also has ordinary breaks.
 * - By chance, a live channel has such a silence at most once in 10,000 days. At least one of two models must confirm this. In the first
 *   model, events arrive at the rate of the quietest five minutes, and the counts per minute vary as much as the observed counts (a
 *   negative binomial distribution; a Poisson distribution when the observed counts vary no more than Poisson counts). In the second model,
 *   events arrive at the rate of the quietest minute, with Poisson counts.
 *
 * On a channel with 30 or more events per minute, a silence of one minute can raise an alarm. On a quiet channel, only a silence of hours
 * can raise an alarm, or no silence at all. The counts cover the hour before the last event, so a long silence does not erase them. All
 * times are in milliseconds since 1970, by the broker's clock.
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

  /** The time of the last event. */
  get lastAt(): number {
    return this.last;
  }

  /** Adds an event. Events must be added in order of time. */
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

  /** Returns the average number of events per minute since `liveSince`, as far as the counts go back. */
  rateSince(liveSince: number): number {
    const counts = this.memory(liveSince).map((index) => this.counts[index] ?? 0);
    return (sumOf(counts) / (Math.max(1, counts.length) * this.times.intervalMs)) * 60_000;
  }

  /** Whether the silence since the last event or, if later, since `watchedSince` is so long that events must be missing. */
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

  /** The indexes of the complete intervals between the start of the stream and the last event, oldest first. */
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
 * Whether a silence of `silence` milliseconds is improbable when `rate` events arrive per millisecond. Each event starts a silence, so rate
 * × day silences start per day. Each of them lasts at least this long with the probability e^(-rate × silence).
 */
function isImprobable(rate: number, silence: number): boolean {
  return rate > 0 && rate * silence >= Math.log(Math.max(1, rate * dayMs) / maxChance);
}

/** Returns a count minus its standard deviation (the square root of the count). */
function lowerRate(count: number): number {
  return Math.max(0, count - Math.sqrt(count));
}

/**
 * The factor by which the variation of the counts weakens the evidence of a silence. The factor is 1 when the counts vary like the counts
 * of independent events, and less than 1 when the counts vary more. If the variance is D × mean, an interval is empty with the probability
 * e^(-mean × ln D / (D - 1)).
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
