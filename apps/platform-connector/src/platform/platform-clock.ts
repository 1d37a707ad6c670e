import { Injectable } from '@nestjs/common';

// The clock difference that raises an alarm. The service rejects messages whose timestamps differ by more than 10 minutes
// (FACTS.md §1.3); half of that leaves time to act.
const maxOffsetMs = 5 * 60_000;
// Ignore slower replies, because it is too uncertain when the platform wrote the header.
const maxRoundTripMs = 10_000;

/** Compares this machine's clock with the platform's, by the `Date` headers of the platform's replies. */
@Injectable()
export class PlatformClock {
  private offset = 0;

  /** How far this machine's clock is behind the platform's, in milliseconds; negative when it is ahead. Can be wrong by a few seconds. */
  get offsetMs(): number {
    return this.offset;
  }

  /** Whether the clocks differ so much that the service may soon reject messages. */
  get isOff(): boolean {
    return Math.abs(this.offset) > maxOffsetMs;
  }

  /**
   * Compares the clocks by the `Date` header of a reply.
   *
   * @param sentAt when the request was sent; like `now`, in milliseconds since 1970 by this machine's clock
   * @param now when the headers of the reply arrived
   */
  note(date: string | string[] | undefined, sentAt: number, now: number): void {
    const time = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (Number.isNaN(time) || now - sentAt > maxRoundTripMs || now < sentAt) return;
    this.offset = time - (sentAt + now) / 2;
  }
}
