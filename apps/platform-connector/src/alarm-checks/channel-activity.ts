import type { SilenceRule } from '../alarms/alarm-times.js';

const minuteMs = 60_000;
const minutes = 60;

/**
 * Counts the events of one channel per minute. The counts cover the hour (60 calendar minutes) until the last event, so a long silence does
 * not erase them. All times are in milliseconds since 1970, by the broker's clock.
 */
export class ChannelActivity {
  private readonly counts = new Uint32Array(minutes);
  private lastMinute = 0;
  private last = 0;

  get lastAt(): number {
    return this.last;
  }

  /** The number of events in the hour before the last event. */
  get eventsInHour(): number {
    return this.counts.reduce((sum, count) => sum + count, 0);
  }

  /** Adds an event. Add events in order of time. */
  add(at: number): void {
    const minute = Math.max(this.lastMinute, Math.floor(at / minuteMs));
    for (let next = Math.max(this.lastMinute, minute - minutes) + 1; next <= minute; next += 1)
      this.counts[next % minutes] = 0;
    this.counts[minute % minutes] = (this.counts[minute % minutes] ?? 0) + 1;
    this.lastMinute = minute;
    this.last = Math.max(this.last, at);
  }

  /** Whether a busy channel has been silent for too long. Silence counts from the last event or, if later, from `watchedSince`. */
  isSilent(now: number, watchedSince: number, { minEvents, silenceMs }: SilenceRule): boolean {
    return now - Math.max(this.last, watchedSince) >= silenceMs && this.eventsInHour >= minEvents;
  }
}
