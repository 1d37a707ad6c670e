/** Number of events to send now, and number of events dropped because the backlog was too large. */
export interface Due {
  send: number;
  missed: number;
}

// Longest backlog to catch up on after a stall. Older events are dropped.
const maxBacklogSeconds = 1;

/** Calculates how many events are due at a rate. Times are in milliseconds on the caller's clock. */
export class Pace {
  private credit = 0;

  constructor(
    readonly perSecond: number,
    private lastMs: number,
  ) {}

  /** Takes at most `room` due events. Drops the events beyond the maximum backlog. */
  take(nowMs: number, room: number): Due {
    this.credit += (this.perSecond * (nowMs - this.lastMs)) / 1_000;
    this.lastMs = nowMs;
    const send = Math.min(Math.floor(this.credit), Math.max(0, room));
    this.credit -= send;
    const missed = Math.floor(Math.max(0, this.credit - Math.max(1, this.perSecond * maxBacklogSeconds)));
    this.credit -= missed;
    return { send, missed };
  }

  /** Infinity at rate 0. */
  untilNextMs(): number {
    return this.perSecond === 0 ? Infinity : Math.max(0, ((1 - this.credit) / this.perSecond) * 1_000);
  }
}
