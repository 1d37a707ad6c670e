import type { LiveControl } from '@stream-events/client';
import type { Part } from '@stream-events/sentences';

/** An alert that waits to be shown. */
export interface Alert {
  /** The type of its event, for styles. */
  type: string;
  sentence: readonly Part[];
  /** The id of its event. A replay has none, because it is shown although its event was shown before. */
  id?: string | undefined;
  /** The position of its event. A replay has none. */
  position?: string | undefined;
}

/** Maximum number of alerts that wait. An alert has about 1 kB, so this is more than an hour of alerts in little memory. */
const maxWaiting = 500;
// The service sends an event again only after a fault, and then soon.
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

  /** Whether so many alerts were taken that the queue should be filled again. */
  get isHalfEmpty(): boolean {
    return this.waiting.length <= this.limit / 2;
  }

  /** Says what the queue does, for the mark of `debug`. */
  get state(): string {
    return `${this.waiting.length} waiting${this.isPaused ? ', paused' : ''}`;
  }

  /** Adds an alert at the end, unless its event is known. The caller checks whether there is room. */
  add(alert: Alert): void {
    const { id } = alert;
    if (id !== undefined && this.known.has(id)) return;
    if (id !== undefined) this.remember(id);
    this.waiting.push(alert);
    this.wake();
  }

  /** Removes and returns the next alert. Waits until there is one, and while the queue is paused. */
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
    // Next, before those that wait. Without its position, so that the source does not go back.
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
