import { Injectable } from '@nestjs/common';
import type { StreamSummaryMessage } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { ChannelChanges } from '../store/channel-changes.repository.js';
import type { SummaryPeriod } from './summary-period.js';

/** An ended stream, and the state of the store on which its summary depends. */
export interface SummaryKey extends SummaryPeriod {
  streamId: string;
  /** See `ChannelChanges`. */
  changes: number;
}

// Increase this number when the computation changes, so that the service recomputes saved summaries.
const version = 1;

/** Stores the summaries of ended streams. */
@Injectable()
export class SavedSummaries {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: ChannelChanges,
  ) {}

  /** Finds a stream's saved summary for exactly this state of the store; undefined when there is none. */
  async find({ streamId, ...key }: SummaryKey): Promise<StreamSummaryMessage | undefined> {
    const [row] = await this.dataSource.query<{ summary: StreamSummaryMessage }[]>(
      `SELECT summary FROM stream_summaries
       WHERE stream = $1 AND channel_id = $2 AND started_at = $3 AND ended_at = $4 AND changes = $5 AND version = $6
         AND kept_from IS NOT DISTINCT FROM $7`,
      [
        streamId,
        key.channelId,
        new Date(key.from),
        new Date(key.to),
        key.changes,
        version,
        toDate(key.keptFrom),
      ],
    );
    return row?.summary;
  }

  /** Saves a summary, unless the channel has changed since its events were read. */
  async save(key: SummaryKey, summary: StreamSummaryMessage): Promise<void> {
    await this.dataSource.transaction(async (transaction) => {
      // Wait for `remove`, so that this call cannot save a summary that `remove` should have deleted.
      await transaction.query('LOCK TABLE stream_summaries IN ROW EXCLUSIVE MODE');
      if ((await this.changes.count(key, transaction)) !== key.changes) return;
      await transaction.query(
        `INSERT INTO stream_summaries (stream, channel_id, started_at, ended_at, kept_from, changes, version, summary)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT ON CONSTRAINT stream_summaries_pkey DO UPDATE SET
           channel_id = excluded.channel_id, started_at = excluded.started_at, ended_at = excluded.ended_at,
           kept_from = excluded.kept_from, changes = excluded.changes, version = excluded.version, summary = excluded.summary`,
        [
          ...[key.streamId, key.channelId, new Date(key.from), new Date(key.to), toDate(key.keptFrom)],
          ...[key.changes, version, JSON.stringify(summary)],
        ],
      );
    });
  }

  /** Deletes the summaries of these channels, and prevents `save` from storing those being computed. Returns how many it deleted. */
  async remove(channelIds: readonly string[] | 'all'): Promise<number> {
    return this.dataSource.transaction(async (transaction) => {
      await transaction.query('LOCK TABLE stream_summaries IN SHARE ROW EXCLUSIVE MODE');
      await this.changes.noteAll(channelIds, transaction);
      const [, count] = await transaction.query<[unknown, number]>(
        `DELETE FROM stream_summaries WHERE $1 OR channel_id = ANY($2::text[])`,
        [channelIds === 'all', channelIds === 'all' ? [] : channelIds],
      );
      return count;
    });
  }

  /** Deletes up to 1,000 summaries of streams that ended before `before` (milliseconds since 1970), and returns how many. */
  async removeOld(before: number): Promise<number> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM stream_summaries WHERE stream IN (
         SELECT stream FROM stream_summaries WHERE ended_at < $1 LIMIT 1000
       )`,
      [new Date(before)],
    );
    return count;
  }
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}
