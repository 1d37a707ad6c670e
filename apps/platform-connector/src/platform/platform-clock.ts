import { Injectable } from '@nestjs/common';

// Messages whose timestamps differ by 10 minutes are rejected (docs/platform-facts.md §1.3). Half of that leaves time to act.
const maxOffsetMs = 5 * 60_000;
// A slower reply says too little about the time at which the platform wrote it.
const maxRoundTripMs = 10_000;

/** Compares this machine's clock with the platform's, by the `Date` headers of its replies. */
@Injectable()
export class PlatformClock {
  private offset = 0;

  /** How far this machine's clock is behind the platform's, in milliseconds; negative: ahead. To the second. */
  get offsetMs(): number {
    return this.offset;
  }

  /** Whether the clocks differ so much that messages may be rejected. */
  get isOff(): boolean {
    return Math.abs(this.offset) > maxOffsetMs;
  }

  /** @param sentAt when the request was sent, and now: milliseconds since 1970 by this machine's clock */
  note(date: string | string[] | undefined, sentAt: number, now: number): void {
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(time) || now - sentAt > maxRoundTripMs || now < sentAt) return;
    this.offset = time - (sentAt + now) / 2;
  }
}
