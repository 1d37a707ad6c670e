import { Injectable } from '@nestjs/common';
import { LeaseColumns } from '@stream-events/database';
import type { DisabledShard } from '@stream-events/platforms';
import { DataSource } from 'typeorm';
import { connecting, enabled, unassigned, type Shard } from './shard-rules.js';

export interface ShardKey {
  conduitId: string;
  id: number;
}

/** A connector that takes shards. */
export interface Holder {
  id: string;
  /** The host and the process id, for users to read. */
  name: string;
}

/** A shard. All its messages that arrived before `settledUntil` (in milliseconds since 1970) are stored or recorded as lost. */
export interface SettledShard extends ShardKey {
  settledUntil: number;
}

/** A shard as the platform status shows it. */
export interface ListedShard {
  id: number;
  status: string;
  /** The holder's name; null when no connector holds the shard. */
  holder: string | null;
  /** When the shard got this status, in milliseconds since 1970. */
  since: number;
}

/**
 * The lease on a shard lasts 6 s. When a holder dies, all shards must work again within 15 s, even if the platform does not notice the
 * death.
 */
export const shardLease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 6);
const holderLease = new LeaseColumns(
  { holder: 'shard_holders.id', until: 'shard_holders.held_until' },
  shardLease.seconds,
);
/** An SQL condition: the connector of a `shard_holders` row is running. */
export const isHolderAlive = `NOT ${holderLease.isExpired}`;
/** An SQL condition: the database session that last renewed the lease of a `shard_holders` row still exists. */
const hasSession = 'EXISTS (SELECT FROM pg_stat_activity WHERE pid = shard_holders.backend)';
// How many sessions to remember per shard. The platform may still list sessions from the last minutes.
const maxSessions = 10;

/** Stores which connector holds which shard. A change fails if another connector has changed the row first. */
@Injectable()
export class ShardsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async list(conduitId: string): Promise<Shard[]> {
    // `abs` makes a status time in the future count as old. Such a time remains when the database's clock is set back.
    return this.dataSource.query<Shard[]>(
      `SELECT shard_id AS id, holder, holder IS NOT NULL AND ${shardLease.isExpired} AS "isExpired",
              EXISTS (SELECT FROM shard_holders WHERE shard_holders.id = holder AND NOT ${hasSession}) AS "isGone",
              floor(extract(epoch FROM held_until) * 1000)::float AS "heldUntil", session_id AS "sessionId", status,
              floor(abs(extract(epoch FROM now() - status_since)) * 1000)::float AS "statusForMs",
              floor(extract(epoch FROM settled_until) * 1000)::float AS "settledUntil"
       FROM conduit_shards WHERE conduit_id = $1 ORDER BY shard_id`,
      [conduitId],
    );
  }

  /** Lists the shards for the platform status. */
  async describe(conduitId: string): Promise<ListedShard[]> {
    return this.dataSource.query<ListedShard[]>(
      `SELECT shard_id AS id, status, shard_holders.name AS holder,
              floor(extract(epoch FROM status_since) * 1000)::float AS since
       FROM conduit_shards LEFT JOIN shard_holders ON shard_holders.id = holder AND ${isHolderAlive}
       WHERE conduit_id = $1 ORDER BY shard_id`,
      [conduitId],
    );
  }

  /** Renews a connector's leases, and saves `settledUntil` for its shards. */
  async renew({ id, name }: Holder, settled: readonly SettledShard[]): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO shard_holders (id, name, held_until, backend) VALUES ($1, $2, ${shardLease.end}, pg_backend_pid())
       ON CONFLICT (id) DO UPDATE SET ${shardLease.renewal}, backend = pg_backend_pid()`,
      [id, name],
    );
    await this.dataSource.query(
      `UPDATE conduit_shards SET ${shardLease.renewal}, settled_until = to_timestamp(input.settled_until / 1000)
       FROM unnest($2::text[], $3::int[], $4::float[]) AS input (conduit_id, shard_id, settled_until)
       WHERE conduit_shards.conduit_id = input.conduit_id AND conduit_shards.shard_id = input.shard_id
         AND ${shardLease.isHeldBy('$1')}`,
      [id, ...columnsOf(settled)],
    );
    await this.dataSource.query(`DELETE FROM shard_holders WHERE held_until < now() - interval '1 hour'`);
  }

  /**
   * Counts the connectors that share the shards. A connector that has died stops counting when its database session ends, before its lease
   * does. Otherwise, the share of the others would stay too small for the shards that it had offered or was offered.
   */
  async countHolders(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM shard_holders WHERE ${isHolderAlive} AND ${hasSession}`,
    );
    return row?.count ?? 0;
  }

  /**
   * Claims a shard for the connector `me`. Returns false when the shard's row has changed since it was read. If `isOpen`, the connector
   * still has an open socket with the shard's session. The shard then counts as enabled, even if another connector has tried to connect it.
   */
  async claim(
    conduitId: string,
    shard: Shard,
    { me, isOpen }: { me: string; isOpen: boolean },
  ): Promise<boolean> {
    return this.isChanged(
      `UPDATE conduit_shards SET ${shardLease.take('$6')}, status = '${isOpen ? enabled : connecting}', status_since = now()
       WHERE conduit_id = $1 AND shard_id = $2 AND holder IS NOT DISTINCT FROM $3::uuid AND status = $4
         AND session_id IS NOT DISTINCT FROM $5`,
      [conduitId, shard.id, shard.holder, shard.status, shard.sessionId, me],
    );
  }

  /** Gives up the shard, so that any connector can take it. */
  async offer({ conduitId, id }: ShardKey, me: string): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET holder = NULL, held_until = NULL WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id],
    );
  }

  /** Saves that the shard has no session and that its holder is opening one. */
  async saveConnecting({ conduitId, id }: ShardKey, me: string): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET status = '${connecting}', status_since = now()
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id],
    );
  }

  /** Saves a session before the platform assigns it to the shard. Returns false when another connector holds the shard. */
  async saveSession({ conduitId, id }: ShardKey, sessionId: string, me: string): Promise<boolean> {
    return this.isChanged(
      `UPDATE conduit_shards SET sessions = (array_prepend($4::text, sessions))[1:${maxSessions}]
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id, sessionId],
    );
  }

  /**
   * Returns the time from which messages may be missing, in milliseconds since 1970. They are missing if a stopping holder closed the
   * shard's session and no other session serves the shard yet. In all other cases, returns null.
   */
  async findClosed({ conduitId, id }: ShardKey): Promise<number | null> {
    const [row] = await this.dataSource.query<{ since: number | null }[]>(
      `SELECT floor(extract(epoch FROM settled_until) * 1000)::float AS since FROM conduit_shards
       WHERE conduit_id = $1 AND shard_id = $2 AND session_id IS NULL`,
      [conduitId, id],
    );
    return row?.since ?? null;
  }

  /** Saves that a session serves the shard. Returns false when another connector holds the shard. */
  async saveEnabled({ conduitId, id }: ShardKey, sessionId: string, me: string): Promise<boolean> {
    return this.isChanged(
      `UPDATE conduit_shards SET session_id = $4, sessions = (array_prepend($4::text, array_remove(sessions, $4)))[1:${maxSessions}],
         status = '${enabled}', status_since = now(), settled_until = coalesce(settled_until, now())
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id, sessionId],
    );
  }

  /** Saves that the platform reported a session as lost, unless another session already serves the shard. */
  async saveDisabled({ conduitId, id, sessionId, status }: DisabledShard): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET status = $4, status_since = now()
       WHERE conduit_id = $1 AND shard_id = $2 AND session_id = $3 AND status = '${enabled}'`,
      [conduitId, id, sessionId, status || unassigned],
    );
  }

  /** Removes a stopping connector from the holders, and lets others take its shards. */
  async leave(me: string): Promise<void> {
    await this.dataSource.query('DELETE FROM shard_holders WHERE id = $1', [me]);
    await this.dataSource.query(
      `UPDATE conduit_shards SET holder = NULL, held_until = NULL WHERE ${shardLease.isHeldBy('$1')}`,
      [me],
    );
  }

  /**
   * Saves that these sockets close, unless another connector has already connected the shard with another session. Removes the session id,
   * so that `findClosed` recognizes the closed session even after the status has changed.
   */
  async saveClosed(closed: readonly (SettledShard & { sessionId: string })[]): Promise<void> {
    await this.dataSource.query(
      `UPDATE conduit_shards SET session_id = NULL, status = '${unassigned}', status_since = now(),
         settled_until = to_timestamp(input.settled_until / 1000)
       FROM unnest($1::text[], $2::int[], $3::float[], $4::text[]) AS input (conduit_id, shard_id, settled_until, session_id)
       WHERE conduit_shards.conduit_id = input.conduit_id AND conduit_shards.shard_id = input.shard_id
         AND conduit_shards.session_id = input.session_id`,
      [...columnsOf(closed), closed.map(({ sessionId }) => sessionId)],
    );
  }

  private async isChanged(update: string, parameters: unknown[]): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `WITH changed AS (${update} RETURNING 1) SELECT FROM changed`,
      parameters,
    );
    return rows.length > 0;
  }
}

function columnsOf(shards: readonly SettledShard[]): unknown[] {
  return [
    shards.map(({ conduitId }) => conduitId),
    shards.map(({ id }) => id),
    shards.map(({ settledUntil }) => settledUntil),
  ];
}
