import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { Lease, LeaseColumns } from '@stream-events/database';
import { FailureLog, LOGGER, pause, WorkerLoop, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';

const lease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 10);
const idleMs = 5_000;

export const ALARM_CHECKS = Symbol('ALARM_CHECKS');

/** A check for alarms that concern all instances. Only the instance with the lease runs it. */
export interface AlarmCheck {
  /** @throws when the check cannot run; open alarms then stay as they are */
  run(): Promise<void>;
  /** Stops without clearing the open alarms. The next instance with the lease takes them over. */
  stop(): void;
}

/**
 * Runs the checks for alarms that concern all instances. One instance at a time holds a lease and runs them every 5 s. If that instance
 * dies, another takes over within 15 s. A failed check does not stop the other checks.
 */
@Injectable()
export class AlarmChecks {
  private readonly holder = randomUUID();
  private readonly failures: FailureLog;
  private readonly loop: WorkerLoop;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ALARM_CHECKS) private readonly checks: readonly AlarmCheck[],
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: (stopping) => this.runWithLease(stopping),
      idleMs,
      maxBackoffMs: idleMs,
      onFailure: (err) =>
        this.failures.warn('cannot acquire or renew the alarm-check lease, retrying within 5 s', { err }),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** Runs the checks until this instance loses the lease or stops. Returns false when another instance holds the lease. */
  private async runWithLease(stopping: AbortSignal): Promise<boolean> {
    if (!(await this.change(lease.take('$1'), lease.isExpired))) return false;
    const held = new Lease(lease.seconds, () => this.change(lease.renewal, lease.isHeldBy('$1')));
    const ending = AbortSignal.any([stopping, held.lost]);
    try {
      while (!ending.aborted) {
        await this.runChecks();
        await pause(this.times.checkMs, ending);
      }
    } finally {
      held.end();
      for (const check of this.checks) check.stop();
    }
    if (!stopping.aborted) held.lost.throwIfAborted();
    // Release the lease so that another instance can take over at once.
    await this.change(lease.release, lease.isHeldBy('$1'));
    return true;
  }

  private async runChecks(): Promise<void> {
    for (const check of this.checks) {
      try {
        await check.run();
      } catch (err) {
        this.failures.warn('cannot run an alarm check, leaving its alarms unchanged and retrying in 5 s', {
          check: check.constructor.name,
          err,
        });
      }
    }
  }

  private async change(assignments: string, condition: string): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH changed AS (UPDATE alarm_checks SET ${assignments} WHERE $1::uuid IS NOT NULL AND ${condition} RETURNING id)
       SELECT id FROM changed`,
      [this.holder],
    );
    return rows.length > 0;
  }
}
