import { once } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import { raidTypes, readEventColumns } from '@stream-events/contracts';
import { Counter, LOGGER, pause, Registry, WorkerLoop, type Logger } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import { ChannelChanges } from '../store/channel-changes.repository.js';

// Number of raids per batch: such a batch takes milliseconds, and its events (up to 256 KiB each) fit in memory.
const batchRows = 200;
const idleMs = 60_000;
const maxBackoffMs = 60_000;

const backfillName = 'raid-channels';
const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface Progress {
  afterId: string;
  /** Whether the current pass is the last one. */
  isLast: boolean;
}

interface RaidRow {
  id: string;
  eventType: string;
  /** Null when the row's columns are already filled. */
  eventData: string | null;
}

interface RaidChannels {
  id: string;
  raidFromId: string | null;
  raidToId: string | null;
}

/**
 * Fills `raid_from_id` and `raid_to_id` of raids that an earlier version stored. A row in `backfills` holds the progress, and a lock on
 * this row lets one instance at a time work on a batch. A new store has no such row, so nothing happens.
 *
 * ```
 * upgrade ──▶ pass over all raids ──1 h later──▶ pass ──▶ … ──24 h after the upgrade──▶ row deleted: done
 * ```
 *
 * Passes repeat, because instances of the earlier version store raids without these columns until all instances are upgraded.
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
    // Pause for as long as the batch took, so that the backfill takes at most half of the database's time.
    if (hasMore) await pause(performance.now() - startedAt, stopping);
    else if (!stopping.aborted && (await this.isDone())) await once(stopping, 'abort');
    return hasMore;
  }

  /** Returns false when the pass has ended, no pass is due, or another instance is working on a batch. */
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

  /** Fills the columns, and marks the saved summaries of the channels as outdated. Returns how many raids it filled. */
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

/** Locks the progress row until the transaction ends. Returns undefined when no pass is due or another instance holds the lock. */
async function claim(manager: EntityManager): Promise<Progress | undefined> {
  const [progress] = await manager.query<Progress[]>(
    `SELECT after_id AS "afterId", now() >= ends_at AS "isLast" FROM backfills
     WHERE name = $1 AND resume_at <= now() FOR UPDATE SKIP LOCKED`,
    [backfillName],
  );
  return progress;
}

/** Reads the next raids in order of id. Row comparisons make the planner use the index on (event_type, id). */
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

/** Derives the columns like the write path. Drops a raid without channel ids. */
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

/** @param lastId the last raid of a full batch; undefined when the pass has ended */
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
