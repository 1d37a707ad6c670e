import { Inject, Injectable } from '@nestjs/common';
import { MaintenanceSessions, type MaintenanceSession } from '@stream-events/database';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { DeadLettersRepository } from '../store/dead-letters.repository.js';
import { RetentionPolicy } from '../store/retention-policy.js';
import { PartitionRemover } from './partition-remover.service.js';

// Events expire at the end of a day (UTC), and the next pass begins within this time.
const intervalMs = 60_000;
// The longest pause after failures. A transaction that reads the events for hours (for example, a backup) makes every attempt fail until
// the transaction ends.
const maxBackoffMs = 60_000;

/**
 * Removes expired events and dead letters, on one instance at a time. Waits while the indexes of partitions are built: building an index
 * and detaching a partition would wait for each other.
 */
@Injectable()
export class Retention {
  private readonly loop: WorkerLoop;

  constructor(
    private readonly policy: RetentionPolicy,
    private readonly sessions: MaintenanceSessions,
    private readonly remover: PartitionRemover,
    private readonly deadLetters: DeadLettersRepository,
    @Inject(LOGGER) logger: Logger,
  ) {
    const failures = new FailureLog(logger);
    this.loop = new WorkerLoop({
      work: async (stopping) => {
        await this.run(stopping);
        return false;
      },
      idleMs: intervalMs,
      maxBackoffMs,
      onFailure: (err) => failures.warn('cannot remove expired events, retrying within a minute', { err }),
    });
  }

  /** Removes expired events and dead letters now, and then every minute. */
  start(): void {
    this.loop.start();
  }

  /** Interrupts the statement in progress. The next pass, on any instance, continues the removal. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Removes all expired events and dead letters. Returns false when another session works on the partitions.
   *
   * @throws the database's error
   */
  async run(stopping: AbortSignal): Promise<boolean> {
    const session = await this.sessions.open('partitionMaintenance', stopping);
    if (!session) return false;
    try {
      const now = await readTime(session);
      await this.remover.run({ session, stopping }, this.policy.cutoff(now));
      const cutoff = this.policy.deadLetterCutoff(now);
      if (cutoff !== undefined) await this.deadLetters.removeFailedBefore(cutoff);
      return true;
    } finally {
      await session.close();
    }
  }
}

/**
 * Returns the current time in milliseconds since 1970: the earlier of this machine's time and the database's time, so that a clock that is
 * ahead does not remove events too early.
 */
async function readTime(session: MaintenanceSession): Promise<number> {
  const [row] = await session.query<{ now: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now',
  );
  return Math.min(Date.now(), row?.now ?? 0);
}
