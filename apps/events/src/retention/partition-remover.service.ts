import { Inject, Injectable } from '@nestjs/common';
import { firstIdAt } from '@stream-events/contracts';
import type { MaintenanceSession } from '@stream-events/database';
import {
  FailureLog,
  LOGGER,
  pause,
  readForGauge,
  Registry,
  type Counter,
  type Logger,
} from '@stream-events/service';
import { PartitionsRepository } from '../store/partitions.repository.js';
import { deleteRange, detach, drop, finalizeDetach, readState } from './partition-statements.js';
import { RetentionRepository } from './retention.repository.js';
import { eventsMetrics } from '../metrics.js';

/** The session that removes events, and the signal to stop. */
export interface Removal {
  session: MaintenanceSession;
  stopping: AbortSignal;
}

/** How far the deletion of a partition's rows has progressed. */
interface Position {
  partition: string;
  /** The first id to keep. */
  firstKept: string;
  /** All rows below this id are deleted. */
  next: string;
}

// A batch takes about 10 ms. The pause after it is at least as long, which leaves the database to ingest.
const rowsPerBatch = 2_000;
const minPauseMs = 10;
const lowestId = '00000000-0000-0000-0000-000000000000';

/**
 * Removes expired events: drops partitions that have expired completely, and deletes rows from the partition that has expired in part.
 *
 * ```
 * attached ──detach: rows no longer visible──▶ detaching ──all readers have ended──▶ detached ──drop──▶ gone
 *
 * state       │ what the next pass does after a crash
 * attached    │ decides again, because RETENTION_DAYS may have changed
 * detaching   │ completes the detachment (FINALIZE), and drops the table
 * detached    │ drops the table
 * ```
 *
 * The next pass can run on any instance, because the database records which partition is being removed.
 * The session holds the lock `partitionMaintenance`, so only one instance at a time removes partitions.
 */
@Injectable()
export class PartitionRemover {
  private readonly partitionsTotal: Counter;
  private readonly rowsTotal: Counter;
  /** The position in the partition that has expired in part; undefined before this instance has deleted rows. */
  private position: Position | undefined;

  constructor(
    private readonly partitions: PartitionsRepository,
    private readonly records: RetentionRepository,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.partitionsTotal = eventsMetrics.events_retention_partitions_total.create(metrics);
    this.rowsTotal = eventsMetrics.events_retention_rows_total.create(metrics);
    measureOverdue(partitions, logger, metrics);
  }

  /**
   * Completes an interrupted removal, then removes all events received before the cutoff.
   *
   * @param cutoff milliseconds since 1970; undefined keeps all events
   * @throws the database's error, for example 55P03 when a long transaction still reads the partition; a later run continues
   */
  async run(removal: Removal, cutoff: number | undefined): Promise<void> {
    const interrupted = await this.records.readRemoving();
    if (interrupted !== null) await this.resume(removal, interrupted);
    if (cutoff !== undefined) await this.removeBefore(removal, cutoff);
  }

  private async resume({ session }: Removal, partition: string): Promise<void> {
    const state = await readState(session, partition);
    if (state === 'detaching') await finalizeDetach(session, partition);
    if (state === 'detaching' || state === 'detached') await this.drop(session, partition);
    await this.records.saveRemoving(null);
  }

  private async removeBefore(removal: Removal, cutoff: number): Promise<void> {
    const firstKept = firstIdAt(cutoff);
    const partitions = await this.partitions.readCatalog();
    const affected = partitions.filter(({ from, isDetaching }) => from < firstKept && !isDetaching);
    if (affected.length > 0) await this.records.saveRemovedBefore(cutoff);
    for (const { name, to } of affected.reverse()) {
      if (removal.stopping.aborted) return;
      if (to > firstKept) await this.deleteRows(removal, { partition: name, firstKept });
      else await this.remove(removal, name);
    }
  }

  private async remove({ session }: Removal, partition: string): Promise<void> {
    await this.records.saveRemoving(partition);
    await detach(session, partition);
    await this.drop(session, partition);
    await this.records.saveRemoving(null);
  }

  private async drop(session: MaintenanceSession, partition: string): Promise<void> {
    await drop(session, partition);
    this.partitionsTotal.inc();
    this.logger.info({ partition }, 'dropped a partition whose events have all expired');
  }

  /**
   * Deletes the rows of a partition below `firstKept`. Continues where the last pass stopped. A new cutoff starts again at the first row,
   * because a writer whose clock is behind may have added rows below the position. The next cutoff, a day later, removes such rows.
   */
  private async deleteRows(
    { session, stopping }: Removal,
    { partition, firstKept }: { partition: string; firstKept: string },
  ): Promise<void> {
    const position = this.positionIn(partition, firstKept);
    let rows = 0;
    while (position.next < firstKept && !stopping.aborted) {
      const begunAt = performance.now();
      const range = { from: position.next, to: firstKept, limit: rowsPerBatch };
      const { count, last } = await deleteRange(session, partition, range);
      rows += count;
      this.rowsTotal.inc(count);
      // A small batch is not the end: an erasure may have deleted some of its rows at the same time.
      position.next = last ?? firstKept;
      if (last !== null) await pause(Math.max(performance.now() - begunAt, minPauseMs), stopping);
    }
    if (rows > 0)
      this.logger.info(
        { partition, rows },
        'deleted expired events of a partition that also contains other events',
      );
  }

  /** Replaces the position when the partition or the cutoff has changed. */
  private positionIn(partition: string, firstKept: string): Position {
    const known = this.position;
    if (known?.partition === partition && known.firstKept === firstKept) return known;
    return (this.position = { partition, firstKept, next: lowestId });
  }
}

function measureOverdue(partitions: PartitionsRepository, logger: Logger, metrics: Registry): void {
  const failureLog = new FailureLog(logger);
  eventsMetrics.events_retention_overdue_seconds.create(metrics, async (gauge) => {
    const seconds = await readForGauge(gauge, failureLog, () => partitions.readOverdueSeconds());
    gauge.set(seconds ?? Number.NaN);
  });
}
