import { receivedAt, type StoredEvent } from '@stream-events/contracts';

export interface Pace {
  /** Playback speed: at 2, one real second plays two seconds of the stream. */
  speed: number;
  isPaused: boolean;
}

/** An event's id contains the time at which the service received it. */
export type Timed = Pick<StoredEvent, 'id'>;

// Maximum delay that a rehearsal makes up for after a busy event loop or a slow page. After a longer interruption, it continues where it
// stopped and keeps the original intervals.
const maxLateMs = 250;

/**
 * Decides when the events of one pass are due. An event is due when the rehearsal reaches the time at which the service received the event.
 * A seek begins a new pass with a new schedule. Does no IO. Stream times are milliseconds since 1970; `now` is milliseconds of a monotonic
 * clock.
 *
 * ```
 *           sent          waiting         not read yet
 *  ──────────────────┼────────────────┼───────────────────▶ time of the stream
 *                    ▲ the rehearsal  ▲ horizon
 * ```
 *
 * The rehearsal can run past an unsent event or the horizon by at most a quarter of a second of real time.
 */
export class RehearsalSchedule<Event extends Timed> {
  private waiting: Event[] = [];
  /** Stream time up to which all events have been added. */
  private horizon: number;
  private isComplete = false;
  private at: number;

  /** @param position stream time at which the pass begins */
  constructor(
    private position: number,
    private readonly until: number,
    private pace: Pace,
    now: number,
  ) {
    this.horizon = position;
    this.at = now;
  }

  /** Events that have been added but not sent. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Whether the last event of the pass has been added. */
  get hasAll(): boolean {
    return this.isComplete;
  }

  /** Adds the next page of events. `next` is the id after which the following page begins, or null for the last page. */
  add(events: readonly Event[], next: string | null, now: number): void {
    this.advance(now);
    this.waiting.push(...events);
    if (next === null) this.isComplete = true;
    else this.horizon = receivedAt(next);
  }

  /** Changes the speed, or pauses or continues the rehearsal. */
  change(pace: Pace, now: number): void {
    this.advance(now);
    this.pace = pace;
  }

  /** Returns the unsent events that are due, in order. */
  due(now: number): Event[] {
    this.advance(now);
    if (this.pace.isPaused) return [];
    const end = this.waiting.findIndex(({ id }) => receivedAt(id) > this.position);
    return end === -1 ? [...this.waiting] : this.waiting.slice(0, end);
  }

  /** Marks the first `count` waiting events as sent. */
  markSent(count: number, now: number): void {
    this.advance(now);
    this.waiting = this.waiting.slice(count);
  }

  /** The stream time that the rehearsal has reached. All earlier events were sent. */
  reached(now: number): number {
    this.advance(now);
    return Math.min(this.position, this.limit);
  }

  /** Whether all events were sent and the rehearsal has reached the end of the range. */
  isDone(now: number): boolean {
    return this.isComplete && this.waiting.length === 0 && this.reached(now) >= this.until;
  }

  /** Milliseconds until the next event or the end of the range. Infinity while the rehearsal is paused or waits for a page. */
  msUntilDue(now: number): number {
    this.advance(now);
    const isReading = this.waiting.length === 0 && !this.isComplete;
    if (this.pace.isPaused || isReading) return Infinity;
    return Math.max(0, (this.limit - this.position) / this.pace.speed);
  }

  /**
   * Stream time at which the rehearsal waits: the next unsent event, the horizon, or the end of the range. `advance` passes this time by at
   * most `maxLateMs` of real time.
   */
  private get limit(): number {
    const [next] = this.waiting;
    if (next) return receivedAt(next.id);
    return this.isComplete ? this.until : this.horizon;
  }

  /** Advances the rehearsal to `now`. */
  private advance(now: number): void {
    const { speed, isPaused } = this.pace;
    const elapsed = now - this.at;
    this.at = now;
    if (isPaused) return;
    const moved = this.position + elapsed * speed;
    this.position = Math.max(this.position, Math.min(moved, this.limit + maxLateMs * speed));
  }
}
