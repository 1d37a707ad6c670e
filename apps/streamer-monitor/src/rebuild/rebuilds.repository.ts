import { Injectable } from '@nestjs/common';
import type { RebuildReply } from '@stream-events/contracts';
import { LeaseColumns } from '@stream-events/database';
import { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Rebuild } from './rebuild.entity.js';

/** The progress of a rebuild. */
export type RebuildProgress = Pick<Rebuild, 'streamersDone' | 'streamersTotal' | 'streamsChanged'>;

/** The lease on the running rebuild: its columns, and its duration in seconds. */
export const rebuildLease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 60);
const abandoned = 'The instance that ran the rebuild has stopped. Start the rebuild again.';

const none: RebuildReply = {
  state: 'none',
  streamersDone: 0,
  streamersTotal: 0,
  streamsChanged: 0,
  startedAt: null,
  endedAt: null,
  error: null,
};

/** Stores rebuilds, so that only one runs at a time and every instance can report the progress. */
@Injectable()
export class RebuildsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Marks abandoned rebuilds as failed, then creates a rebuild whose lease belongs to `holder`. Returns false when another rebuild is
   * running.
   */
  async begin(holder: string): Promise<boolean> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query(
        `UPDATE rebuilds SET state = 'failed', error = $1, ended_at = now() WHERE state = 'running' AND ${rebuildLease.isExpired}`,
        [abandoned],
      );
      const [begun] = await transaction.query<{ id: string }[]>(
        `INSERT INTO rebuilds (id, state, streamers_done, streamers_total, streams_changed, started_at, leased_by, leased_until)
         VALUES ($1, 'running', 0, (SELECT count(*) FROM streamers WHERE NOT disabled), 0, now(), $2, ${rebuildLease.end})
         ON CONFLICT DO NOTHING RETURNING id`,
        [uuidV7(), holder],
      );
      return begun !== undefined;
    });
  }

  /** Returns false when the rebuild has ended or was marked as abandoned. */
  async renew(holder: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rebuilds SET ${rebuildLease.renewal} WHERE ${isRunningUnder('$1')}`,
      [holder],
    );
    return count > 0;
  }

  /** Does nothing when the rebuild was marked as abandoned. */
  async saveProgress(holder: string, { streamersDone, streamsChanged }: RebuildProgress): Promise<void> {
    await this.dataSource.query(
      `UPDATE rebuilds SET streamers_done = $2, streams_changed = $3,
         streamers_total = greatest(streamers_total, $2)
       WHERE ${isRunningUnder('$1')}`,
      [holder, streamersDone, streamsChanged],
    );
  }

  /**
   * Ends the rebuild. `error` is the reason for a failure; null means success. Returns false when the rebuild has been marked as abandoned.
   */
  async end(holder: string, error: string | null): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rebuilds SET state = $2, error = $3, ended_at = now() WHERE ${isRunningUnder('$1')}`,
      [holder, error === null ? 'done' : 'failed', error],
    );
    return count > 0;
  }

  async readLatest(): Promise<RebuildReply> {
    const { entities, raw } = await this.dataSource.manager
      .createQueryBuilder(Rebuild, 'rebuild')
      .addSelect(`state = 'running' AND ${rebuildLease.isExpired}`, 'isAbandoned')
      .orderBy('rebuild.id', 'DESC')
      .limit(1)
      .getRawAndEntities<{ isAbandoned: boolean }>();
    const [rebuild] = entities;
    if (!rebuild) return none;
    const { streamersDone, streamersTotal, streamsChanged, startedAt, endedAt } = rebuild;
    const isAbandoned = raw[0]?.isAbandoned ?? false;
    return {
      state: isAbandoned ? 'failed' : rebuild.state,
      streamersDone,
      streamersTotal,
      streamsChanged,
      startedAt: startedAt.getTime(),
      endedAt: endedAt?.getTime() ?? null,
      error: isAbandoned ? abandoned : rebuild.error,
    };
  }
}

/** An SQL condition for the holder's running rebuild. Each rebuild has its own holder UUID, so at most one row matches. */
function isRunningUnder(holder: string): string {
  return `state = 'running' AND ${rebuildLease.isHeldBy(holder)}`;
}
