import type { LiveControl } from '@stream-events/client';
import type { Part } from '@stream-events/sentences';

/** An alert that waits to be shown. */
export interface Alert {
  /** The type of the event, for styles. */
  type: string;
  sentence: readonly Part[];
  /** The id of the event. Undefined for a replay, because a replay is shown even if its event was already shown. */
  id?: string | undefined;
  /** The position of the event. Undefined for a replay. */
  position?: string | undefined;
}

/** The maximum number of waiting alerts, enough for more than an hour. Each alert needs only about 1 kB of memory. */
const maxWaiting = 500;
// The number of remembered event ids. The service sends an event a second time only after a fault, and soon after the first time.
const maxKnown = 1_000;

/** The alerts that wait to be shown, one after the other. */
export class AlertQueue {
  private readonly waiting: Alert[] = [];
  private readonly known = new Set<string>();
  private last: Alert | undefined;
  private isPaused = false;
  private wake: () => void = () => undefined;

  constructor(private readonly limit = maxWaiting) {}

  get length(): number {
    return this.waiting.length;
  }

  get isFull(): boolean {
    return this.waiting.length >= this.limit;
  }

  /** Whether the queue is at most half full, so that it should be filled again. */
  get isHalfEmpty(): boolean {
    return this.waiting.length <= this.limit / 2;
  }

  /** The state of the queue in words, for the mark of `debug`. */
  get state(): string {
    return `${this.waiting.length} waiting${this.isPaused ? ', paused' : ''}`;
  }

  /** Adds an alert at the end, unless its event was added before. The caller checks whether the queue has room. */
  add(alert: Alert): void {
    const { id } = alert;
    if (id !== undefined && this.known.has(id)) return;
    if (id !== undefined) this.remember(id);
    this.waiting.push(alert);
    this.wake();
  }

  /** Removes and returns the next alert. Waits while the queue is empty or paused. */
  async take(): Promise<Alert> {
    for (;;) {
      const alert = this.isPaused ? undefined : this.waiting.shift();
      if (alert) return (this.last = alert);
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** Obeys `replay`, `pause`, and `resume`. Ignores other controls, which a newer service may send. */
  control(control: LiveControl): void {
    if (control === 'pause') this.isPaused = true;
    if (control === 'resume') this.isPaused = false;
    // Show the last alert before the waiting alerts, but without its position, so that the saved position does not go back.
    if (control === 'replay' && this.last && !this.isFull)
      this.waiting.unshift({ ...this.last, position: undefined });
    this.wake();
  }

  private remember(id: string): void {
    this.known.add(id);
    const [oldest] = this.known;
    if (this.known.size > maxKnown && oldest !== undefined) this.known.delete(oldest);
  }
}
