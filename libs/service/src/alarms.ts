import {
  alarmRepeatMs,
  maxOpenAlarms,
  type AlarmKey,
  type ReportAlarmsRequest,
} from '@stream-events/contracts';
import { FailureLog, type FailureLogger } from './failure-log.js';
import { WorkerLoop } from './worker-loop.js';

/** Saves alarms in the database, directly or through a request to another service. */
export type SaveAlarms = (report: ReportAlarmsRequest) => Promise<unknown>;

// How often to look for changes to save. An alarm must be raised within 90 s of its cause.
const idleMs = 1_000;
const maxBackoffMs = 10_000;

/**
 * Raises and clears alarms, each identified by a stable key. `raise`, `clear`, and `withdraw` return immediately and cannot fail: a
 * background task saves the changes, and retries while the database is unavailable.
 *
 * ```
 *              raise                    clear
 *  no alarm ──────────▶ open, repeated ───────▶ cleared
 *                       every 20 s   └── not repeated for 90 s: the process is gone ──▶ cleared
 * ```
 *
 * Processes that raise the same key share one alarm, and each of them can clear it. At any time, only one process should own a key.
 */
export class Alarms {
  private readonly raised = new Map<AlarmKey, string>();
  /** The keys whose alarms must still be cleared in the database. */
  private readonly clearing = new Set<AlarmKey>();
  /** When each key was last cleared. A caller may clear a key at every check; only one of these calls per 20 s causes a request. */
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

  /** Stops without clearing any alarm. If a cause remains, another instance raises its alarm again. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Raises an alarm, or changes its message. @param message the problem and its remedy, without secrets */
  raise(key: AlarmKey, message: string): void {
    this.clearing.delete(key);
    if (this.raised.get(key) === message) return;
    // Beyond the limit, drop alarms: more of them would not help to find the cause.
    if (!this.raised.has(key) && this.raised.size >= maxOpenAlarms) return;
    this.raised.set(key, message);
    this.isChanged = true;
  }

  /** Clears an alarm if it is open, even if another process raised it. */
  clear(key: AlarmKey): void {
    const isRepeated = this.now() < (this.clearedAt.get(key) ?? Number.NEGATIVE_INFINITY) + alarmRepeatMs;
    if (!this.raised.delete(key) && isRepeated) return;
    if (this.clearedAt.size >= maxOpenAlarms) this.clearedAt.clear();
    this.clearedAt.set(key, this.now());
    this.clearing.add(key);
    this.isChanged = true;
  }

  /** Stops repeating an alarm that another process now owns, without clearing it. */
  withdraw(key: AlarmKey): void {
    this.raised.delete(key);
  }

  /** Saves all alarms when one has changed or a repetition is due. Returns false, so that the loop pauses for 1 s. */
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
