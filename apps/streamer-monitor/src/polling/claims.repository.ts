import { Injectable } from '@nestjs/common';
import { maxLookUp } from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import type { Milliseconds } from '../streams/stream-facts.js';
import { epochMilliseconds } from '../streams/streams.repository.js';
import { pollAheadMs, usernameRefreshIntervalMs } from './poll-interval.js';

/** Streamers that nobody else asks the platform about until a time. */
export interface Claim {
  claimedUntil: Milliseconds;
  streamers: { id: string; platformId: string }[];
}

/** What one asks the platform about. */
interface Question {
  /** Any number of its own: who holds it may claim. */
  lock: number;
  column: 'next_poll_at' | 'next_naming_at';
  /** So early a streamer is taken along when another one is due, so that batches stay full. */
  aheadMs: number;
  /** The time limit of the question and of writing down the answer, so that who is late has lost the claim. */
  claimSeconds: number;
}

const stream: Question = { lock: 7_243_002, column: 'next_poll_at', aheadMs: pollAheadMs, claimSeconds: 30 };
const name: Question = {
  lock: 7_243_003,
  column: 'next_naming_at',
  aheadMs: 60_000,
  claimSeconds: usernameRefreshIntervalMs / 1_000,
};

/**
 * Shares the streamers that are due among all instances: who claims some sets their time ahead. An instance that dies has set it
 * ahead as well, so that they become due again.
 */
@Injectable()
export class ClaimsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Up to 100 streamers whose streams are to be looked up; none when none is due. */
  claimPolls(): Promise<Claim> {
    return this.claim(stream);
  }

  /** Makes those that were not polled under this claim due at once. */
  releasePolls(claim: Claim): Promise<void> {
    return this.release(stream, claim, 0);
  }

  /** Up to 100 streamers whose names are to be looked up: the next time is in a quarter of an hour. */
  claimNames(): Promise<Claim> {
    return this.claim(name);
  }

  /** Makes them due in a minute. */
  releaseNames(claim: Claim): Promise<void> {
    return this.release(name, claim, 60);
  }

  /** For how many seconds the streamer that is overdue most has waited for a poll. */
  async measureLag(): Promise<number> {
    const [row] = await this.dataSource.query<{ lag: number }[]>(
      `SELECT greatest(0, coalesce(extract(epoch FROM now() - min(next_poll_at)), 0))::float8 AS lag
       FROM streamers WHERE NOT disabled`,
    );
    return row?.lag ?? 0;
  }

  async countRunning(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      'SELECT count(*)::int AS count FROM streams WHERE ended_at IS NULL',
    );
    return row?.count ?? 0;
  }

  private async claim({ lock, column, aheadMs, claimSeconds }: Question): Promise<Claim> {
    const rows = await this.dataSource.transaction(async (transaction) => {
      // One after another: several at once would share what is left of a sweep, and ask about a few streamers each.
      await transaction.query('SELECT pg_advisory_xact_lock($1)', [lock]);
      // Who is being changed at this moment is left for the next time.
      return transaction.query<{ id: string; platformId: string; claimedUntil: Milliseconds }[]>(
        `WITH due AS MATERIALIZED (
           SELECT id FROM streamers
           WHERE NOT disabled AND ${column} <= now() + interval '${aheadMs} milliseconds'
             AND (SELECT min(${column}) FROM streamers WHERE NOT disabled) <= now()
           ORDER BY ${column} LIMIT ${maxLookUp} FOR UPDATE SKIP LOCKED
         ), claimed AS (
           -- To the millisecond, as the claim is compared with afterwards.
           UPDATE streamers SET ${column} = date_trunc('milliseconds', now() + interval '${claimSeconds} seconds')
           WHERE id = ANY(ARRAY(SELECT id FROM due)) RETURNING id, platform_id, ${column} AS claimed_until
         )
         SELECT id, platform_id AS "platformId", ${epochMilliseconds('claimed_until')} AS "claimedUntil" FROM claimed`,
      );
    });
    return {
      claimedUntil: rows[0]?.claimedUntil ?? 0,
      streamers: rows.map(({ id, platformId }) => ({ id, platformId })),
    };
  }

  private async release(
    { column }: Question,
    { streamers, claimedUntil }: Claim,
    inSeconds: number,
  ): Promise<void> {
    await this.dataSource.query(
      // Locked in the order in which everybody locks several.
      `UPDATE streamers SET ${column} = now() + interval '${inSeconds} seconds' WHERE id IN (
         SELECT id FROM streamers WHERE id = ANY($1::uuid[]) AND ${column} = $2 ORDER BY id FOR UPDATE
       )`,
      [streamers.map(({ id }) => id), new Date(claimedUntil)],
    );
  }
}
