import { Injectable } from '@nestjs/common';
import { maxLookUp } from '@stream-events/contracts';
import { takeAdvisoryLock } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import type { Milliseconds } from '../streams/stream-facts.js';
import { epochMilliseconds } from '../streams/streams.repository.js';
import { pollAheadMs, pollIntervalMs, usernameRefreshIntervalMs } from './poll-interval.js';

/** A batch of streamers that belongs to one instance until the claim expires. */
export interface Claim {
  claimedUntil: Milliseconds;
  streamers: { id: string; platformId: string }[];
}

/** A kind of look-up for which instances claim streamers. */
interface LookUpKind {
  /** The advisory lock that lets only one instance claim at a time. */
  lock: 'pollClaims' | 'usernameClaims';
  column: 'next_poll_at' | 'next_naming_at';
  /** When one streamer is due, a claim also takes streamers that are due within this time, so that batches stay full. */
  aheadMs: number;
  /** The longest time between two look-ups of a streamer. */
  intervalMs: number;
  /**
   * The duration of a claim: longer than an instance usually needs to look up a batch and record the result. An instance that needs more
   * time loses the claim.
   */
  claimSeconds: number;
}

const stream: LookUpKind = {
  lock: 'pollClaims',
  column: 'next_poll_at',
  aheadMs: pollAheadMs,
  intervalMs: pollIntervalMs,
  claimSeconds: 30,
};
const username: LookUpKind = {
  lock: 'usernameClaims',
  column: 'next_naming_at',
  aheadMs: 60_000,
  intervalMs: usernameRefreshIntervalMs,
  claimSeconds: usernameRefreshIntervalMs / 1_000,
};

/**
 * Shares the due streamers among all instances. A claim moves the due time of the claimed streamers to the end of the claim. When an
 * instance dies, the streamers that it claimed become due again at that time.
 */
@Injectable()
export class ClaimsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Claims up to 100 streamers whose streams are due for a look-up. Returns an empty claim when none is due. */
  claimPolls(): Promise<Claim> {
    return this.claim(stream);
  }

  /** Releases the streamers of the claim that have not been polled yet, so that they are due immediately. */
  releasePolls(claim: Claim): Promise<void> {
    return this.release(stream, claim, 0);
  }

  /** Claims up to 100 streamers whose usernames are due for a look-up. The claim lasts until the next look-up is due. */
  claimUsernames(): Promise<Claim> {
    return this.claim(username);
  }

  /** Releases the streamers of the claim, so that their next look-up is due in a minute. */
  releaseUsernames(claim: Claim): Promise<void> {
    return this.release(username, claim, 60);
  }

  /**
   * Returns for how many seconds the most overdue streamer has been waiting for a poll. Counts from the last recorded poll, because claims
   * and failed look-ups change the due time.
   */
  async measureLag(): Promise<number> {
    const [row] = await this.dataSource.query<{ lag: number }[]>(
      `SELECT greatest(0, extract(epoch FROM now() - min(coalesce(polled_at, updated_at))) - ${pollIntervalMs / 1_000})::float8 AS lag
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

  private async claim(kind: LookUpKind): Promise<Claim> {
    const { lock, column, aheadMs, claimSeconds } = kind;
    const rows = await this.dataSource.transaction(async (transaction) => {
      // Only one instance claims at a time, because concurrent claims would split the rest of a polling pass into several small batches.
      await takeAdvisoryLock(transaction, lock);
      await this.bringForward(transaction, kind);
      // With SKIP LOCKED, streamers that another transaction is changing are left for the next claim.
      return transaction.query<{ id: string; platformId: string; claimedUntil: Milliseconds }[]>(
        `WITH due AS MATERIALIZED (
           SELECT id FROM streamers
           WHERE NOT disabled AND ${column} <= now() + interval '${aheadMs} milliseconds'
             AND (SELECT min(${column}) FROM streamers WHERE NOT disabled) <= now()
           ORDER BY ${column} LIMIT ${maxLookUp} FOR UPDATE SKIP LOCKED
         ), claimed AS (
           -- Truncated to the millisecond, because release() and the recorder compare with this value.
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

  /**
   * Makes up to 100 streamers due whose due times are impossibly far in the future. Such times remain when a clock was ahead and has been
   * set back. Without this step, polling would stand still for as long as the clock was ahead.
   */
  private async bringForward(transaction: EntityManager, { column, intervalMs }: LookUpKind): Promise<void> {
    await transaction.query(
      // The limit is twice the interval, because the due time of a new streamer comes from the clock of an instance, which may be ahead.
      `UPDATE streamers SET ${column} = now() WHERE id = ANY(ARRAY(
         SELECT id FROM streamers WHERE NOT disabled AND ${column} > now() + interval '${2 * intervalMs} milliseconds'
         ORDER BY ${column} DESC LIMIT ${maxLookUp} FOR UPDATE SKIP LOCKED
       ))`,
    );
  }

  private async release(
    { column }: LookUpKind,
    { streamers, claimedUntil }: Claim,
    inSeconds: number,
  ): Promise<void> {
    await this.dataSource.query(
      // Locks in order of id, like every statement that locks several streamers.
      `UPDATE streamers SET ${column} = now() + interval '${inSeconds} seconds' WHERE id IN (
         SELECT id FROM streamers WHERE id = ANY($1::uuid[]) AND ${column} = $2 ORDER BY id FOR UPDATE
       )`,
      [streamers.map(({ id }) => id), new Date(claimedUntil)],
    );
  }
}
