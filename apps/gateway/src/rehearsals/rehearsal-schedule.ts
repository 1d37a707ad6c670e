import { receivedAt, type StoredEvent } from '@stream-events/contracts';

/** How fast a rehearsal plays, and whether it is paused. */
export interface Pace {
  /** Playback speed: seconds of the stream per second of real time. */
  speed: number;
  isPaused: boolean;
}

/** The part of an event that decides when it is due. */
export type Timed = Pick<StoredEvent, 'id'>;

// After a busy event loop or a slow page, the rehearsal catches up by at most this much time. After a longer interruption, the rehearsal
// continues where it stopped, with the original intervals between events.
const maxLateMs = 250;

/**
 * Decides when the events of one pass are due: an event is due when the rehearsal reaches the time at which the service received the
 * event. A seek begins a new pass with a new schedule. Does no IO. Times in the stream are in milliseconds since 1970; `now` is in
 * milliseconds of a monotonic clock.
 *
 * ```
 *           sent          waiting         not read yet
 *  ──────────────────┼────────────────┼───────────────────▶ time of the stream
 *                    ▲ the rehearsal  ▲ horizon
 * ```
 *
 * The rehearsal can pass an unsent event or the horizon by at most a quarter of a second of real time.
 */
export class RehearsalSchedule<Event extends Timed> {
  private waiting: Event[] = [];
  /** All events before this time have been added. */
  private horizon: number;
  private isComplete = false;
  private at: number;

  /** @param position the time in the stream where the pass begins */
  constructor(
    private position: number,
    private readonly until: number,
    private pace: Pace,
    now: number,
  ) {
    this.horizon = position;
    this.at = now;
  }

  /** Number of events that have been added but not sent. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** Whether all events of the pass have been added. */
  get hasAll(): boolean {
    return this.isComplete;
  }

  /** Adds the next events. `next` is the id after which more events can follow. Null: these are the last events. */
  add(events: readonly Event[], next: string | null, now: number): void {
    this.advance(now);
    this.waiting.push(...events);
    if (next === null) this.isComplete = true;
    else this.horizon = receivedAt(next);
  }

  /** Changes the speed, or pauses or continues the rehearsal, at the time `now`. */
  change(pace: Pace, now: number): void {
    this.advance(now);
    this.pace = pace;
  }

  /** Returns the events that are due but not sent yet, in order. */
  due(now: number): Event[] {
    this.advance(now);
    if (this.pace.isPaused) return [];
    const end = this.waiting.findIndex(({ id }) => receivedAt(id) > this.position);
    return end === -1 ? [...this.waiting] : this.waiting.slice(0, end);
  }

  /** Records that the first `count` waiting events were sent. */
  markSent(count: number, now: number): void {
    this.advance(now);
    this.waiting = this.waiting.slice(count);
  }

  /** Returns the time in the stream that the rehearsal has reached. All events before this time were sent. */
  reached(now: number): number {
    this.advance(now);
    return Math.min(this.position, this.limit);
  }

  /** Whether all events were sent and the rehearsal has reached its end. */
  isDone(now: number): boolean {
    return this.isComplete && this.waiting.length === 0 && this.reached(now) >= this.until;
  }

  /** Returns the milliseconds until the next event or the end is due. Infinity while the rehearsal is paused or must read events first. */
  msUntilDue(now: number): number {
    this.advance(now);
    const isReading = this.waiting.length === 0 && !this.isComplete;
    if (this.pace.isPaused || isReading) return Infinity;
    return Math.max(0, (this.limit - this.position) / this.pace.speed);
  }

  /** The time in the stream at which the rehearsal must wait: the next unsent event, the horizon, or the end. */
  private get limit(): number {
    const [next] = this.waiting;
    if (next) return receivedAt(next.id);
    return this.isComplete ? this.until : this.horizon;
  }

  /** Moves the rehearsal to the current time. */
  private advance(now: number): void {
    const { speed, isPaused } = this.pace;
    const elapsed = now - this.at;
    this.at = now;
    if (isPaused) return;
    const moved = this.position + elapsed * speed;
    this.position = Math.max(this.position, Math.min(moved, this.limit + maxLateMs * speed));
  }
}
