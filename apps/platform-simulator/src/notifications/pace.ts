/** What is due at a moment, and what will never be sent because there was no room for too long. */
export interface Due {
  send: number;
  missed: number;
}

// How much may be caught up after a short stall; what is older than that is missed, not queued.
const maxBacklogSeconds = 1;

/** Turns a rate into "so many now". Knows no clock and no timer: it is told the time in milliseconds. */
export class Pace {
  private credit = 0;

  constructor(
    readonly perSecond: number,
    private lastMs: number,
  ) {}

  /** How many are due at this time, at most as many as there is room for. */
  take(nowMs: number, room: number): Due {
    this.credit += (this.perSecond * (nowMs - this.lastMs)) / 1_000;
    this.lastMs = nowMs;
    const send = Math.min(Math.floor(this.credit), Math.max(0, room));
    this.credit -= send;
    const missed = Math.floor(Math.max(0, this.credit - Math.max(1, this.perSecond * maxBacklogSeconds)));
    this.credit -= missed;
    return { send, missed };
  }

  /** Milliseconds until the next one is due; Infinity when nothing ever is. */
  untilNextMs(): number {
    return this.perSecond === 0 ? Infinity : Math.max(0, ((1 - this.credit) / this.perSecond) * 1_000);
  }
}
