import { Injectable } from '@nestjs/common';
import { maxLookUp } from '@stream-events/contracts';
import { takeAdvisoryLock } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import type { Milliseconds } from '../streams/stream-facts.js';
import { epochMilliseconds } from '../streams/streams.repository.js';
import { pollAheadMs, pollIntervalMs, usernameRefreshIntervalMs } from './poll-interval.js';

/** A batch of streamers that one instance may look up until the claim expires. */
export interface Claim {
  claimedUntil: Milliseconds;
  streamers: { id: string; platformId: string }[];
}

/** A kind of lookup for which instances claim streamers. */
interface LookUpKind {
  /** The advisory lock that lets one instance claim at a time. */
  lock: 'pollClaims' | 'usernameClaims';
  column: 'next_poll_at' | 'next_naming_at';
  /** Once a streamer is due, a claim also takes those that become due within this time, so that batches stay full. */
  aheadMs: number;
  /** Maximum time from a lookup until the streamer is due again. */
  intervalMs: number;
  /**
   * How long a claim lasts: longer than an instance normally needs to look up a batch and record the result. A slower instance loses the
   * claim.
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
 * Distributes the due streamers among all instances. A claim sets their due time to the end of the claim, so if an instance dies, its
 * streamers become due again at that time.
 */
@Injectable()
export class ClaimsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Claims up to 100 streamers that are due for a poll; none if none is due. */
  claimPolls(): Promise<Claim> {
    return this.claim(stream);
  }

  /** Makes the claimed streamers due at once, except those whose due time has changed since the claim. */
  releasePolls(claim: Claim): Promise<void> {
    return this.release(stream, claim, 0);
  }

  /** Claims up to 100 streamers whose username lookup is due. The claim lasts until the next lookup is due. */
  claimUsernames(): Promise<Claim> {
    return this.claim(username);
  }

  /** Makes the claimed streamers due for a lookup in a minute. */
  releaseUsernames(claim: Claim): Promise<void> {
    return this.release(username, claim, 60);
  }

  /**
   * Returns by how many seconds the most overdue poll is late. Counts from the last recorded poll, because claims and failed lookups change
   * the due time. For a streamer without a poll, counts from its last change.
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
      // One instance at a time: concurrent claims would split the rest of a polling pass into several small batches.
      await takeAdvisoryLock(transaction, lock);
      await this.bringForward(transaction, kind);
      // SKIP LOCKED skips streamers that another transaction is changing. The next claim takes them.
      return transaction.query<{ id: string; platformId: string; claimedUntil: Milliseconds }[]>(
        `WITH due AS MATERIALIZED (
           SELECT id FROM streamers
           WHERE NOT disabled AND ${column} <= now() + interval '${aheadMs} milliseconds'
             AND (SELECT min(${column}) FROM streamers WHERE NOT disabled) <= now()
           ORDER BY ${column} LIMIT ${maxLookUp} FOR UPDATE SKIP LOCKED
         ), claimed AS (
           -- Truncate to milliseconds, because release() and the recorder compare with this value.
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
   * Makes up to 100 streamers due if their due times are impossibly far in the future. Such due times remain after a fast clock was set
   * back. Without this step, polling would pause for as long as the clock was ahead.
   */
  private async bringForward(transaction: EntityManager, { column, intervalMs }: LookUpKind): Promise<void> {
    await transaction.query(
      // Allow twice the interval, because a new streamer's due time comes from an instance's clock, which may be ahead.
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
      // Lock in id order, like every statement that waits for the locks of several streamers.
      `UPDATE streamers SET ${column} = now() + interval '${inSeconds} seconds' WHERE id IN (
         SELECT id FROM streamers WHERE id = ANY($1::uuid[]) AND ${column} = $2 ORDER BY id FOR UPDATE
       )`,
      [streamers.map(({ id }) => id), new Date(claimedUntil)],
    );
  }
}
