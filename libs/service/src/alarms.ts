import {
  alarmRepeatMs,
  maxOpenAlarms,
  type AlarmKey,
  type ReportAlarmsRequest,
} from '@stream-events/contracts';
import { FailureLog, type FailureLogger } from './failure-log.js';
import { WorkerLoop } from './worker-loop.js';

/** Saves a report of alarms in the database, directly or through a request to another service. */
export type SaveAlarms = (report: ReportAlarmsRequest) => Promise<unknown>;

// How long to wait before saving changes again. Short, because an alarm must be raised within 90 s of its cause.
const idleMs = 1_000;
const maxBackoffMs = 10_000;

/**
 * Raises and clears alarms, each by a stable key. The methods return immediately and cannot fail: a background task saves the changes, and
 * retries while the database is unavailable.
 *
 * ```
 *              raise                    clear
 *  no alarm ──────────▶ open, repeated ───────▶ cleared
 *                       every 20 s   └── not repeated for 90 s: the process is gone ──▶ cleared
 * ```
 *
 * Two processes that raise the same key share one alarm. Either process can clear this alarm, so a key must have one owner at a
 * time.
 */
export class Alarms {
  private readonly raised = new Map<AlarmKey, string>();
  /** The keys to clear. */
  private readonly clearing = new Set<AlarmKey>();
  /** When each key was last cleared, so that a caller that clears a key at every check does not cause a request each time. */
  private readonly clearedAt = new Map<AlarmKey, number>();
  private readonly loop: WorkerLoop;
  private savedAt = Number.NEGATIVE_INFINITY;
  private isChanged = false;

  constructor(
    private readonly save: SaveAlarms,
    logger: FailureLogger,
    /** A monotonic clock, in milliseconds. */
    private readonly now: () => number = () => performance.now(),
  ) {
    const failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: () => this.saveChanges(),
      idleMs,
      maxBackoffMs,
      onFailure: (err) =>
        failures.warn('cannot save alarms, retrying', { err, open: [...this.raised.keys()] }),
    });
  }

  start(): void {
    this.loop.start();
  }

  /** Stops without clearing any alarm. Another instance raises the alarms again while their causes remain. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Raises an alarm, or changes its message. @param message the problem and the remedy; without secrets */
  raise(key: AlarmKey, message: string): void {
    this.clearing.delete(key);
    if (this.raised.get(key) === message) return;
    // Drop further alarms, because they would not help to find the cause.
    if (!this.raised.has(key) && this.raised.size >= maxOpenAlarms) return;
    this.raised.set(key, message);
    this.isChanged = true;
  }

  /** Clears an alarm, if the alarm is open. The alarm may have been raised by another process. */
  clear(key: AlarmKey): void {
    const isRepeated = this.now() < (this.clearedAt.get(key) ?? Number.NEGATIVE_INFINITY) + alarmRepeatMs;
    if (!this.raised.delete(key) && isRepeated) return;
    if (this.clearedAt.size >= maxOpenAlarms) this.clearedAt.clear();
    this.clearedAt.set(key, this.now());
    this.clearing.add(key);
    this.isChanged = true;
  }

  /** Hands an alarm over to another process, which repeats or clears the alarm from now on. */
  withdraw(key: AlarmKey): void {
    this.raised.delete(key);
  }

  /**
   * Saves all alarms when one has changed or a repetition is due. Runs every second. Always returns false, so that the loop pauses for one
   * second.
   */
  async saveChanges(): Promise<boolean> {
    const isRepetitionDue = this.raised.size > 0 && this.now() >= this.savedAt + alarmRepeatMs;
    if (!this.isChanged && !isRepetitionDue) return false;
    this.isChanged = false;
    const cleared = [...this.clearing].slice(0, maxOpenAlarms);
    try {
      await this.save({ raised: [...this.raised].map(([key, message]) => ({ key, message })), cleared });
    } catch (error) {
      this.isChanged = true;
      throw error;
    }
    this.savedAt = this.now();
    for (const key of cleared) this.clearing.delete(key);
    this.isChanged ||= this.clearing.size > 0;
    return false;
  }
}
