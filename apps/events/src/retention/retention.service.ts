import { Inject, Injectable } from '@nestjs/common';
import { MaintenanceSessions, type MaintenanceSession } from '@stream-events/database';
import { FailureLog, LOGGER, WorkerLoop, type Logger } from '@stream-events/service';
import { DeadLettersRepository } from '../store/dead-letters.repository.js';
import { RetentionPolicy } from '../store/retention-policy.js';
import { PartitionRemover } from './partition-remover.service.js';

// How soon a pass begins after events expire, which is at the end of a day (UTC).
const intervalMs = 60_000;
// The longest pause after failures. A transaction that reads the events for hours, such as a backup, makes every attempt fail until it
// ends.
const maxBackoffMs = 60_000;

/**
 * Removes expired events and dead letters, on one instance at a time. Waits while indexes are being built, because building an index and
 * detaching a partition block each other.
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

  /** Interrupts the statement in progress. The next pass, on any instance, continues. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /**
   * Returns false when another session is working on the partitions.
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
 * Returns the earlier of this machine's time and the database's time (milliseconds since 1970), so that a fast clock removes no event too
 * early.
 */
async function readTime(session: MaintenanceSession): Promise<number> {
  const [row] = await session.query<{ now: number }>(
    'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now',
  );
  return Math.min(Date.now(), row?.now ?? 0);
}
