import type { AlarmKey } from '@stream-events/contracts';
import type { Alarms } from '@stream-events/service';
import type { AlarmTimes } from '../alarms/alarm-times.js';

/** Raises an alarm only after its cause has lasted for `holdMs`, because most causes disappear on their own. */
export class HeldAlarms {
  /** When each cause began, by `times.now`. */
  private readonly since = new Map<AlarmKey, number>();
  private readonly raised = new Set<AlarmKey>();

  constructor(
    private readonly alarms: Alarms,
    private readonly times: Pick<AlarmTimes, 'holdMs' | 'now'>,
  ) {}

  /** The keys of the alarms that this process has raised, and of causes that have not lasted for `holdMs` yet. */
  get keys(): AlarmKey[] {
    return [...new Set([...this.since.keys(), ...this.raised])];
  }

  /**
   * Raises the alarm if its cause has lasted for `holdMs`. Clears the alarm when there is no cause.
   *
   * @param message the problem and its remedy; undefined when there is no problem
   */
  decide(key: AlarmKey, message: string | undefined): void {
    if (message === undefined) {
      this.since.delete(key);
      this.raised.delete(key);
      this.alarms.clear(key);
      return;
    }
    const now = this.times.now();
    const since = this.since.get(key) ?? now;
    this.since.set(key, since);
    if (now < since + this.times.holdMs) return;
    this.raised.add(key);
    this.alarms.raise(key, message);
  }

  /** Restarts the hold time of a cause with the next decision. An open alarm stays open. */
  restart(key: AlarmKey): void {
    this.since.delete(key);
  }

  /** Stops without clearing the open alarms. The next instance with the lease takes them over. */
  stop(): void {
    for (const key of this.raised) this.alarms.withdraw(key);
    this.raised.clear();
    this.since.clear();
  }
}
