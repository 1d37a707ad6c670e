import { Injectable } from '@nestjs/common';
import type { PlatformShard } from '@stream-events/platforms';
import { DataSource } from 'typeorm';
import { connecting, enabled, foreign, unassigned } from './shard-rules.js';
import { isHolderAlive } from './shards.repository.js';

/** The conduit of this installation. */
export interface OwnConduit {
  /** The conduit's id on the platform; null until the platform has created the conduit. */
  id: string | null;
  shardCount: number;
  /** Whether the conduit must be deleted, because no subscription needs it. */
  isRetired: boolean;
  /** Why the conduit could not be created, and the remedy; null when there is no problem. */
  problem: string | null;
  /** Whether the platform has listed the shards after the time that `find` got as `since`. */
  isChecked: boolean;
}

// How long a connector claims a check. A call to the platform, including retries, takes less time. A longer call could let two connectors
// create two conduits.
const claimSeconds = 10;

@Injectable()
export class ConduitsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Finds the conduit. Returns null when no conduit exists and none is wanted.
   *
   * @param since only a listing of the shards after this time counts for `isChecked`, by the database's clock. If `since` is more than a
   * minute in the future, the clock was set back, and every listing counts
   */
  async find(clientId: string, since = new Date(0)): Promise<OwnConduit | null> {
    const [conduit] = await this.dataSource.query<OwnConduit[]>(
      `SELECT conduit_id AS id, shard_count AS "shardCount", is_retired AS "isRetired", problem,
              checked_at IS NOT NULL AND (checked_at >= $2 OR $2 > now() + interval '1 minute') AS "isChecked"
       FROM conduits WHERE client_id = $1`,
      [clientId, since],
    );
    return conduit ?? null;
  }

  /** Returns the conduit's id. Returns null when the platform has not created a conduit yet, or when the conduit will be deleted. */
  async findId(clientId: string): Promise<string | null> {
    const [row] = await this.dataSource.query<{ id: string | null }[]>(
      'SELECT conduit_id AS id FROM conduits WHERE client_id = $1 AND NOT is_retired',
      [clientId],
    );
    return row?.id ?? null;
  }

  /** Whether all shards of the conduit are enabled. */
  async isWorking(clientId: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ isWorking: boolean | null }[]>(
      `SELECT bool_and(status = '${enabled}') AS "isWorking" FROM conduits JOIN conduit_shards USING (conduit_id) WHERE client_id = $1`,
      [clientId],
    );
    return row?.isWorking ?? false;
  }

  /**
   * Makes a check of the conduit due. If `shardCount` is given, also saves that a conduit is wanted. Returns the database's current time.
   */
  async start(clientId: string, shardCount: number | null): Promise<Date> {
    await this.dataSource.query(
      shardCount === null
        ? 'UPDATE conduits SET check_due_at = now() WHERE client_id = $1'
        : `INSERT INTO conduits (client_id, shard_count) VALUES ($1, $2)
           ON CONFLICT (client_id) DO UPDATE SET is_retired = false, check_due_at = now()`,
      shardCount === null ? [clientId] : [clientId, shardCount],
    );
    const [row] = await this.dataSource.query<{ now: Date }[]>('SELECT now()');
    return row?.now ?? new Date();
  }

  /** Saves that no subscription needs the conduit, so that the next check deletes it. */
  async retire(clientId: string): Promise<void> {
    await this.dataSource.query(
      'UPDATE conduits SET is_retired = true, check_due_at = now() WHERE client_id = $1 AND NOT is_retired',
      [clientId],
    );
  }

  /** Claims a due check, so that no other connector runs it. Returns the database's current time, or undefined when no check is due. */
  async claimCheck(clientId: string): Promise<Date | undefined> {
    const rows = await this.dataSource.query<{ now: Date }[]>(
      `WITH claimed AS (
         UPDATE conduits SET check_due_at = now() + interval '${claimSeconds} seconds'
         WHERE client_id = $1 AND (check_due_at <= now() OR check_due_at > now() + interval '10 minutes') RETURNING client_id
       ) SELECT now() FROM claimed`,
      [clientId],
    );
    return rows[0]?.now;
  }

  /** Makes the next check due after this many milliseconds. */
  async checkWithin(clientId: string, milliseconds: number): Promise<void> {
    await this.dataSource.query(
      'UPDATE conduits SET check_due_at = now() + make_interval(secs => $2::float / 1000) WHERE client_id = $1',
      [clientId, milliseconds],
    );
  }

  /** Saves a new conduit and its shards. Returns false when another connector has saved a conduit first. */
  async saveCreated(clientId: string, conduit: { id: string; shardCount: number }): Promise<boolean> {
    return this.dataSource.transaction(async (manager) => {
      const rows = await manager.query<unknown[]>(
        `WITH saved AS (
           UPDATE conduits SET conduit_id = $2, shard_count = $3, problem = NULL WHERE client_id = $1 AND conduit_id IS NULL
           RETURNING client_id
         ) SELECT FROM saved`,
        [clientId, conduit.id, conduit.shardCount],
      );
      if (rows.length === 0) return false;
      await manager.query(insertShards, [conduit.id, conduit.shardCount]);
      return true;
    });
  }

  /** Saves the new number of shards, and adds or deletes shard rows to match. */
  async saveShardCount(
    clientId: string,
    { id, shardCount }: { id: string; shardCount: number },
  ): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query('UPDATE conduits SET shard_count = $3 WHERE client_id = $1 AND conduit_id = $2', [
        clientId,
        id,
        shardCount,
      ]);
      await manager.query(insertShards, [id, shardCount]);
      await manager.query('DELETE FROM conduit_shards WHERE conduit_id = $1 AND shard_id >= $2', [
        id,
        shardCount,
      ]);
    });
  }

  /** Saves that the conduit no longer exists on the platform, and deletes its shards. */
  async saveGone(clientId: string, conduitId: string): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      await manager.query('UPDATE conduits SET conduit_id = NULL WHERE client_id = $1 AND conduit_id = $2', [
        clientId,
        conduitId,
      ]);
      await manager.query('DELETE FROM conduit_shards WHERE conduit_id = $1', [conduitId]);
    });
  }

  /** Removes the row of a retired conduit that no longer exists on the platform. */
  async remove(clientId: string): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM conduits WHERE client_id = $1 AND is_retired AND conduit_id IS NULL',
      [clientId],
    );
  }

  async saveProblem(clientId: string, problem: string): Promise<void> {
    await this.dataSource.query('UPDATE conduits SET problem = $2 WHERE client_id = $1', [clientId, problem]);
  }

  /**
   * Saves the listed states of the shards. Skips shards whose state has changed since the listing was requested. Also skips shards that are
   * connecting, unless another installation serves them. Returns true when every shard is enabled and the shards are spread over as many
   * connectors as possible. The spread matters because a connector without a shard receives no reports about lost shards.
   *
   * A state that began more than a minute in the future is old: the database's clock was set back after the state changed.
   *
   * @param startedAt when the listing was requested, by the database's clock
   */
  async saveListing(conduitId: string, shards: readonly PlatformShard[], startedAt: Date): Promise<boolean> {
    await this.dataSource.query(
      `WITH listed AS (
         SELECT * FROM unnest($2::int[], $3::text[], $4::text[]) AS input (shard_id, status, session_id)
       ), reported AS (
         SELECT shard.shard_id,
           CASE WHEN listed.session_id = shard.session_id THEN listed.status
                WHEN listed.status = '${enabled}' AND (listed.session_id IS NULL OR listed.session_id <> ALL (shard.sessions)) THEN '${foreign}'
                ELSE '${unassigned}' END AS status
         FROM conduit_shards AS shard LEFT JOIN listed USING (shard_id) WHERE shard.conduit_id = $1
       )
       UPDATE conduit_shards AS shard SET status = reported.status, status_since = now() FROM reported
       WHERE shard.conduit_id = $1 AND shard.shard_id = reported.shard_id AND shard.status <> reported.status
         AND (shard.status_since < $5 OR shard.status_since > now() + interval '1 minute')
         AND (shard.status <> '${connecting}' OR reported.status = '${foreign}')`,
      [
        conduitId,
        shards.map(({ id }) => id),
        shards.map(({ status }) => status),
        shards.map(({ sessionId }) => sessionId),
        startedAt,
      ],
    );
    await this.dataSource.query('UPDATE conduits SET checked_at = now() WHERE conduit_id = $1', [conduitId]);
    const [row] = await this.dataSource.query<{ isWell: boolean }[]>(
      `SELECT count(*) FILTER (WHERE status <> '${enabled}') = 0
              AND least(count(*), (SELECT count(*) FROM shard_holders WHERE ${isHolderAlive})) <= count(DISTINCT holder) AS "isWell"
       FROM conduit_shards WHERE conduit_id = $1`,
      [conduitId],
    );
    return row?.isWell ?? false;
  }
}

const insertShards = `INSERT INTO conduit_shards (conduit_id, shard_id) SELECT $1, generate_series(0, $2::int - 1) ON CONFLICT DO NOTHING`;
