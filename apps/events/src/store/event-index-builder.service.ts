import { once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { MaintenanceSessions, sqlState, type MaintenanceSession } from '@stream-events/database';
import { LOGGER, Registry, WorkerLoop, type Gauge, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import type { IndexReadiness } from './event-indexes.js';
import { readIndexCatalog } from './index-catalog.js';
import { isConcurrent, planIndexes, toStatement, type IndexStep } from './index-plan.js';
import { eventsMetrics } from '../metrics.js';

// How often an instance checks whether another one has built the indexes.
const waitingMs = 5_000;
const maxBackoffMs = 30_000;

// How long a step that locks out readers or writers waits for its lock. Short, because later statements queue behind the step; the builder
// retries it later. Shorter than PostgreSQL's deadlock_timeout (1 s), so that a deadlock ends this step, not another session's statement.
const lockTimeoutMs = 500;
const lockNotAvailable = '55P03';

/**
 * Builds the missing indexes of a store with events, while the store is in use. `planIndexes` explains the order. A new store gets its
 * indexes from the migration that creates it.
 *
 * One instance at a time builds indexes: its session holds an advisory lock. The database's catalog is the only state, so after a crash,
 * the next instance drops the invalid index of the interrupted build and continues.
 */
@Injectable()
export class EventIndexBuilder implements IndexReadiness {
  private readonly loop: WorkerLoop;
  private readonly remainingSteps: Gauge;
  private ready: ReadonlySet<string> = new Set();

  constructor(
    private readonly dataSource: DataSource,
    private readonly sessions: MaintenanceSessions,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.remainingSteps = eventsMetrics.events_index_steps_remaining.create(metrics);
    this.loop = new WorkerLoop({
      work: (stopping) => this.work(stopping),
      idleMs: waitingMs,
      maxBackoffMs,
      onFailure: (error) => this.reportFailure(error),
    });
  }

  /** Whether the index existed on every partition when this instance last read the catalog. */
  isReady(indexName: string): boolean {
    return this.ready.has(indexName);
  }

  /** Determines which indexes are ready, then builds the missing ones in the background. */
  async start(): Promise<void> {
    await this.readSteps();
    this.loop.start();
  }

  /** Interrupts the current step. An interrupted build leaves an invalid index, which the next builder drops. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async work(stopping: AbortSignal): Promise<boolean> {
    if ((await this.readSteps()).length === 0) {
      if (!stopping.aborted) await once(stopping, 'abort');
      return false;
    }
    const session = await this.sessions.open('partitionMaintenance', stopping);
    if (!session) return false; // another instance is building the indexes
    try {
      // Build on one core, and leave the other cores to requests.
      await session.query('SET max_parallel_maintenance_workers = 0');
      await this.runSteps(session, stopping);
      return true;
    } finally {
      await session.close();
    }
  }

  private async runSteps(session: MaintenanceSession, stopping: AbortSignal): Promise<void> {
    for (;;) {
      const [step, ...later] = await this.readSteps();
      if (!step || stopping.aborted) return;
      const startedAt = performance.now();
      await session.query(`SET lock_timeout = ${isConcurrent(step) ? 0 : lockTimeoutMs}`);
      await session.query(toStatement(step));
      const durationMs = Math.round(performance.now() - startedAt);
      this.logger.info({ ...describe(step), durationMs, remaining: later.length }, 'event index step done');
    }
  }

  /** Determines the remaining steps, and updates the ready indexes and the metric. */
  private async readSteps(): Promise<readonly IndexStep[]> {
    const { ready, steps } = planIndexes(await readIndexCatalog(this.dataSource));
    this.remainingSteps.set(steps.length);
    this.ready = ready;
    return steps;
  }

  private reportFailure(error: unknown): void {
    if (sqlState(error) === lockNotAvailable)
      this.logger.info({}, 'the events table is busy, retrying the index step later');
    else this.logger.warn({ err: error }, 'cannot build the event indexes, retrying within 30 s');
  }
}

/** The fields of a step's log line. */
function describe(step: IndexStep): Record<string, string> {
  return {
    step: step.kind,
    index: step.index.name,
    ...('partition' in step && { partition: step.partition }),
  };
}
