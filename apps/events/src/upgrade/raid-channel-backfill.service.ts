import { once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { raidTypes, readEventColumns } from '@stream-events/contracts';
import { Counter, LOGGER, pause, Registry, WorkerLoop, type Logger } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { ChannelChanges } from '../store/channel-changes.repository.js';

// A batch of this size takes milliseconds, and its events (up to 256 KiB each) fit in memory.
const batchRows = 200;
const idleMs = 60_000;
const maxBackoffMs = 60_000;

const backfillName = 'raid-channels';
const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface Progress {
  afterId: string;
  /** Whether the current pass is the last one if it ends with this batch. */
  isLast: boolean;
}

interface RaidRow {
  id: string;
  eventType: string;
  /** Null when the columns of the row are already filled. */
  eventData: string | null;
}

interface RaidChannels {
  id: string;
  raidFromId: string | null;
  raidToId: string | null;
}

/**
 * Fills the columns `raid_from_id` and `raid_to_id` of raids that an earlier version stored. A row in `backfills` holds the progress. A
 * lock on the row lets one instance at a time work on a batch. A new store has no such row.
 *
 * ```
 * upgrade ──▶ pass over all raids ──1 h later──▶ pass ──▶ … ──24 h after the upgrade──▶ row deleted: done
 * ```
 *
 * The passes are repeated because instances of the earlier version store raids until they are replaced.
 */
@Injectable()
export class RaidChannelBackfill {
  private readonly loop: WorkerLoop;
  private readonly filledTotal: Counter;

  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: ChannelChanges,
    @Inject(LOGGER) private readonly logger: Logger,
    metrics: Registry,
  ) {
    this.filledTotal = new Counter({
      name: 'events_raid_channels_filled_total',
      help: 'Stored raids of an earlier version whose channel ids this instance has filled in',
      registers: [metrics],
    });
    this.loop = new WorkerLoop({
      work: (stopping) => this.work(stopping),
      idleMs,
      maxBackoffMs,
      onFailure: (error) =>
        this.logger.warn({ err: error }, 'cannot fill the channel ids of stored raids, retrying within 60 s'),
    });
  }

  start(): void {
    this.loop.start();
  }

  stop(): Promise<void> {
    return this.loop.stop();
  }

  private async work(stopping: AbortSignal): Promise<boolean> {
    const startedAt = performance.now();
    const hasMore = await this.runBatch();
    // The pause is as long as the batch took, so that the backfill uses at most half of the database's time.
    if (hasMore) await pause(performance.now() - startedAt, stopping);
    else if (!stopping.aborted && (await this.isDone())) await once(stopping, 'abort');
    return hasMore;
  }

  /**
   * Fills the columns of the next batch of raids. Returns false when the pass has ended, another instance is working on a batch, or no pass
   * is due.
   */
  async runBatch(): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const progress = await claim(manager);
      if (!progress) return false;
      const raids = await readRaids(manager, progress.afterId);
      const filled = await this.fill(manager, raids.flatMap(readChannels));
      this.filledTotal.inc(filled);
      const lastId = raids.length < batchRows ? undefined : raids.at(-1)?.id;
      await saveProgress(manager, lastId, progress);
      const isPassDone = lastId === undefined;
      this.logger[filled > 0 || isPassDone ? 'info' : 'debug'](
        {
          raids: raids.length,
          filled,
          afterId: progress.afterId,
          isPassDone,
          isLast: isPassDone && progress.isLast,
        },
        'filled the channel ids of stored raids',
      );
      return !isPassDone;
    });
  }

  /** Fills the columns of these raids, and makes the saved summaries of their channels outdated. Returns the number of filled raids. */
  private async fill(manager: EntityManager, raids: readonly RaidChannels[]): Promise<number> {
    const filled = await fillColumns(manager, raids);
    const channelIds = raids.flatMap(({ raidFromId, raidToId }) => [raidFromId, raidToId]);
    await this.changes.noteAll(
      channelIds.filter((id) => id !== null),
      manager,
    );
    return filled;
  }

  private async isDone(): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>('SELECT FROM backfills WHERE name = $1', [
      backfillName,
    ]);
    return rows.length === 0;
  }
}

/** Locks the progress until the end of the transaction. Returns undefined when another instance holds the lock or no pass is due. */
async function claim(manager: EntityManager): Promise<Progress | undefined> {
  const [progress] = await manager.query<Progress[]>(
    `SELECT after_id AS "afterId", now() >= ends_at AS "isLast" FROM backfills
     WHERE name = $1 AND resume_at <= now() FOR UPDATE SKIP LOCKED`,
    [backfillName],
  );
  return progress;
}

/** Reads the next raids in order of id. The row comparisons make the planner use the index on (event_type, id). */
async function readRaids(manager: EntityManager, afterId: string): Promise<RaidRow[]> {
  const columns = `id, event_type AS "eventType",
    CASE WHEN raid_from_id IS NULL AND raid_to_id IS NULL THEN event_data::text END AS "eventData"`;
  const perType = raidTypes.map(
    (_, index) =>
      `(SELECT ${columns} FROM events
        WHERE id > $1 AND (event_type, id) > ($${index + 3}, $1::uuid) AND (event_type, id) <= ($${index + 3}, $2::uuid)
        ORDER BY event_type, id LIMIT ${batchRows})`,
  );
  return manager.query<RaidRow[]>(
    `SELECT * FROM (${perType.join(' UNION ALL ')}) AS raids ORDER BY id LIMIT ${batchRows}`,
    [afterId, highestId, ...raidTypes],
  );
}

/** Derives the columns as the write path does. Leaves out a raid without channel ids. */
function readChannels({ id, eventType, eventData }: RaidRow): RaidChannels[] {
  if (eventData === null) return [];
  const { raidFromId, raidToId } = readEventColumns(eventType, eventData);
  return raidFromId === null && raidToId === null ? [] : [{ id, raidFromId, raidToId }];
}

async function fillColumns(manager: EntityManager, channels: readonly RaidChannels[]): Promise<number> {
  const [first, last] = [channels[0], channels.at(-1)];
  if (!first || !last) return 0;
  const [, count] = await manager.query<[unknown, number]>(
    `UPDATE events SET raid_from_id = input.raid_from_id, raid_to_id = input.raid_to_id
     FROM unnest($1::uuid[], $2::text[], $3::text[]) AS input (id, raid_from_id, raid_to_id)
     WHERE events.id = input.id AND events.id BETWEEN $4 AND $5`,
    [
      channels.map(({ id }) => id),
      channels.map(({ raidFromId }) => raidFromId),
      channels.map(({ raidToId }) => raidToId),
      first.id,
      last.id,
    ],
  );
  return count;
}

/** @param lastId the last raid of a full batch; undefined at the end of a pass */
async function saveProgress(
  manager: EntityManager,
  lastId: string | undefined,
  { isLast }: Progress,
): Promise<void> {
  if (lastId !== undefined)
    await manager.query('UPDATE backfills SET after_id = $2 WHERE name = $1', [backfillName, lastId]);
  else if (isLast) await manager.query('DELETE FROM backfills WHERE name = $1', [backfillName]);
  else
    await manager.query(
      `UPDATE backfills SET after_id = $2, resume_at = now() + interval '1 hour' WHERE name = $1`,
      [backfillName, lowestId],
    );
}
