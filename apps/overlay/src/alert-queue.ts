import type { LiveControl } from '@stream-events/client';
import type { Part } from '@stream-events/sentences';

export interface Alert {
  /** Event type, for styles. */
  type: string;
  sentence: readonly Part[];
  /** Event id. Undefined for replays, which are shown even if their event was already shown. */
  id?: string | undefined;
  /** The event's position. Undefined for replays. */
  position?: string | undefined;
}

/** Maximum number of waiting alerts: enough for more than an hour at 8 s per alert. An alert needs about 1 kB of memory. */
const maxWaiting = 500;
// Number of remembered event ids. The service repeats an event only after a fault and soon after its first delivery.
const maxKnown = 1_000;

/** Alerts that wait to be shown one after the other. */
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

  /** Whether the queue is at most half full. The feed then reads the events that it has dropped. */
  get isHalfEmpty(): boolean {
    return this.waiting.length <= this.limit / 2;
  }

  /** Text for the `debug` mark. */
  get state(): string {
    return `${this.waiting.length} waiting${this.isPaused ? ', paused' : ''}`;
  }

  /** Adds an alert unless its event was added before. The caller checks whether the queue has room. */
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

  /** Handles `replay`, `pause`, and `resume`. Ignores `skip`, which the page handles, and the controls of newer services. */
  control(control: LiveControl): void {
    if (control === 'pause') this.isPaused = true;
    if (control === 'resume') this.isPaused = false;
    // Show the last alert next. Omit its position, so that the saved position does not go back.
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
