import { Injectable } from '@nestjs/common';
import type { RebuildReply } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Rebuild } from './rebuild.entity.js';

/** The progress of a rebuild. */
export type Progress = Pick<Rebuild, 'streamersDone' | 'streamersTotal' | 'streamsChanged'>;

// A page of streamers takes seconds. An instance that saves no progress for this long has died.
const lease = "interval '60 seconds'";
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

/** Stores rebuilds, so that only one runs at a time and every instance can report its progress. */
@Injectable()
export class RebuildsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates a rebuild and returns its id. Returns undefined when one is running. */
  async begin(): Promise<string | undefined> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query(
        `UPDATE rebuilds SET state = 'failed', error = $1, ended_at = now() WHERE state = 'running' AND leased_until < now()`,
        [abandoned],
      );
      const [begun] = await transaction.query<{ id: string }[]>(
        `INSERT INTO rebuilds (id, state, streamers_done, streamers_total, streams_changed, started_at, leased_until)
         VALUES ($1, 'running', 0, (SELECT count(*) FROM streamers WHERE NOT disabled), 0, now(), now() + ${lease})
         ON CONFLICT DO NOTHING RETURNING id`,
        [uuidV7()],
      );
      return begun?.id;
    });
  }

  /** Saves the progress and renews the lease. Returns false when the rebuild has been marked as abandoned meanwhile. */
  async saveProgress(id: string, { streamersDone, streamsChanged }: Progress): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rebuilds SET streamers_done = $2, streams_changed = $3, leased_until = now() + ${lease},
         streamers_total = greatest(streamers_total, $2)
       WHERE id = $1 AND state = 'running'`,
      [id, streamersDone, streamsChanged],
    );
    return count > 0;
  }

  /** Ends the rebuild. `error` says why it failed; null means success. */
  async end(id: string, error: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE rebuilds SET state = $2, error = $3, ended_at = now() WHERE id = $1 AND state = 'running'`,
      [id, error === null ? 'done' : 'failed', error],
    );
  }

  /** The latest rebuild, as the API shows it. */
  async readLatest(): Promise<RebuildReply> {
    const [rebuild] = await this.dataSource.manager.find(Rebuild, { order: { id: 'DESC' }, take: 1 });
    if (!rebuild) return none;
    const { streamersDone, streamersTotal, streamsChanged, startedAt, endedAt, leasedUntil } = rebuild;
    const isAbandoned = rebuild.state === 'running' && leasedUntil.getTime() < Date.now();
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
