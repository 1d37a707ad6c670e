/** The number of events to send now, and the number of events that were dropped because the backlog was too large. */
export interface Due {
  send: number;
  missed: number;
}

// The maximum backlog to send after a short stall. Older events are dropped.
const maxBacklogSeconds = 1;

/** Converts a rate to a number of events that are due. The caller passes the time in milliseconds. */
export class Pace {
  private credit = 0;

  constructor(
    readonly perSecond: number,
    private lastMs: number,
  ) {}

  /** Takes up to `room` of the due events. Drops the events that exceed the maximum backlog. */
  take(nowMs: number, room: number): Due {
    this.credit += (this.perSecond * (nowMs - this.lastMs)) / 1_000;
    this.lastMs = nowMs;
    const send = Math.min(Math.floor(this.credit), Math.max(0, room));
    this.credit -= send;
    const missed = Math.floor(Math.max(0, this.credit - Math.max(1, this.perSecond * maxBacklogSeconds)));
    this.credit -= missed;
    return { send, missed };
  }

  /** Milliseconds until the next event is due; Infinity at rate 0. */
  untilNextMs(): number {
    return this.perSecond === 0 ? Infinity : Math.max(0, ((1 - this.credit) / this.perSecond) * 1_000);
  }
}
