import { Injectable } from '@nestjs/common';
import type { RebuildReply } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Rebuild } from './rebuild.entity.js';

/** How far a rebuild is. */
export type Progress = Pick<Rebuild, 'streamersDone' | 'streamersTotal' | 'streamsChanged'>;

// A page of streamers takes seconds; an instance that says nothing for so long has died.
const lease = "interval '60 seconds'";
const abandoned = 'the instance that did it has stopped: it can be started again';

const none: RebuildReply = {
  state: 'none',
  streamersDone: 0,
  streamersTotal: 0,
  streamsChanged: 0,
  startedAt: null,
  endedAt: null,
  error: null,
};

/** Keeps account of rebuilds, so that there is one at a time and every instance can tell how far it is. */
@Injectable()
export class RebuildsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Begins a rebuild; gives back its id, or undefined when one is running. */
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

  /** Notes how far it is, and that its instance lives; false when it has been given up meanwhile. */
  async note(id: string, { streamersDone, streamsChanged }: Progress): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rebuilds SET streamers_done = $2, streams_changed = $3, leased_until = now() + ${lease},
         streamers_total = greatest(streamers_total, $2)
       WHERE id = $1 AND state = 'running'`,
      [id, streamersDone, streamsChanged],
    );
    return count > 0;
  }

  /** Ends it: well, or with the reason why not. */
  async end(id: string, error: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE rebuilds SET state = $2, error = $3, ended_at = now() WHERE id = $1 AND state = 'running'`,
      [id, error === null ? 'done' : 'failed', error],
    );
  }

  /** The latest one, as it is shown. */
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
