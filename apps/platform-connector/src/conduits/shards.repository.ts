import { Injectable } from '@nestjs/common';
import { LeaseColumns } from '@stream-events/database';
import type { DisabledShard } from '@stream-events/platforms';
import { DataSource } from 'typeorm';
import { connecting, enabled, unassigned, type Shard } from './shard-rules.js';

/** A shard of a conduit. */
export interface ShardKey {
  conduitId: string;
  id: number;
}

/** A connector that takes shards. */
export interface Holder {
  id: string;
  /** The host and the process id, shown to users. */
  name: string;
}

/** A shard, and the time until which all received messages of the shard are stored or recorded as lost, in milliseconds since 1970. */
export interface SettledShard extends ShardKey {
  settledUntil: number;
}

/** A shard as shown in the platform status. */
export interface ListedShard {
  id: number;
  status: string;
  /** The name of the holder; null when no connector holds the shard. */
  holder: string | null;
  /** When the shard got this status, in milliseconds since 1970. */
  since: number;
}

/** A lease of 6 s, because all shards must work again within 15 s after a holder dies, even if the platform does not notice the death. */
export const shardLease = new LeaseColumns({ holder: 'holder', until: 'held_until' }, 6);
const holderLease = new LeaseColumns(
  { holder: 'shard_holders.id', until: 'shard_holders.held_until' },
  shardLease.seconds,
);
/** Condition: a row of `shard_holders` belongs to a connector that is running. */
export const isHolderAlive = `NOT ${holderLease.isExpired}`;
// The number of sessions to remember per shard, because the platform may still list sessions from the last minutes.
const maxSessions = 10;

/** Stores which connector holds which shard. A change applies only if no other connector has changed the row in the meantime. */
@Injectable()
export class ShardsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async list(conduitId: string): Promise<Shard[]> {
    // After the database's clock was set back, a status can be in the future. `abs` lets such a status count as old.
    return this.dataSource.query<Shard[]>(
      `SELECT shard_id AS id, holder, holder IS NOT NULL AND ${shardLease.isExpired} AS "isExpired",
              EXISTS (SELECT FROM shard_holders WHERE shard_holders.id = holder AND backend IS NOT NULL
                      AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = backend)) AS "isGone",
              floor(extract(epoch FROM held_until) * 1000)::float AS "heldUntil", session_id AS "sessionId", status,
              floor(abs(extract(epoch FROM now() - status_since)) * 1000)::float AS "statusForMs",
              floor(extract(epoch FROM settled_until) * 1000)::float AS "settledUntil"
       FROM conduit_shards WHERE conduit_id = $1 ORDER BY shard_id`,
      [conduitId],
    );
  }

  /** Lists the shards for the status. */
  async describe(conduitId: string): Promise<ListedShard[]> {
    return this.dataSource.query<ListedShard[]>(
      `SELECT shard_id AS id, status, shard_holders.name AS holder,
              floor(extract(epoch FROM status_since) * 1000)::float AS since
       FROM conduit_shards LEFT JOIN shard_holders ON shard_holders.id = holder AND ${isHolderAlive}
       WHERE conduit_id = $1 ORDER BY shard_id`,
      [conduitId],
    );
  }

  /** Renews the leases of a connector, and saves `settledUntil` of its shards. */
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

  /** Counts the connectors that take shards. */
  async countHolders(): Promise<number> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM shard_holders WHERE ${isHolderAlive}`,
    );
    return row?.count ?? 0;
  }

  /**
   * Takes a shard. Returns false when its row has changed. `isOpen`: whether the connector still has an open socket with the shard's
   * session. The shard then counts as enabled, even if another connector has tried to connect the shard in the meantime.
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

  /** Lets any connector take the shard. */
  async offer({ conduitId, id }: ShardKey, me: string): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET holder = NULL, held_until = NULL WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id],
    );
  }

  /** Saves that the holder has no session for the shard and is opening a new session. */
  async saveConnecting({ conduitId, id }: ShardKey, me: string): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET status = '${connecting}', status_since = now()
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id],
    );
  }

  /** Saves a session before the platform assigns the session to the shard. Returns false when another connector holds the shard. */
  async saveSession({ conduitId, id }: ShardKey, sessionId: string, me: string): Promise<boolean> {
    return this.isChanged(
      `UPDATE conduit_shards SET sessions = (array_prepend($4::text, sessions))[1:${maxSessions}]
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id, sessionId],
    );
  }

  /**
   * If a stopping holder has closed the shard's session and no other session serves the shard yet, returns the time from which messages may
   * be missing, in milliseconds since 1970. Otherwise, returns null.
   */
  async findClosed({ conduitId, id }: ShardKey): Promise<number | null> {
    const [row] = await this.dataSource.query<{ since: number | null }[]>(
      `SELECT floor(extract(epoch FROM settled_until) * 1000)::float AS since FROM conduit_shards
       WHERE conduit_id = $1 AND shard_id = $2 AND session_id IS NULL`,
      [conduitId, id],
    );
    return row?.since ?? null;
  }

  /** Saves that the session serves the shard. Returns false when another connector holds the shard. */
  async saveEnabled({ conduitId, id }: ShardKey, sessionId: string, me: string): Promise<boolean> {
    return this.isChanged(
      `UPDATE conduit_shards SET session_id = $4, sessions = (array_prepend($4::text, array_remove(sessions, $4)))[1:${maxSessions}],
         status = '${enabled}', status_since = now(), settled_until = coalesce(settled_until, now())
       WHERE conduit_id = $2 AND shard_id = $3 AND ${shardLease.isHeldBy('$1')}`,
      [me, conduitId, id, sessionId],
    );
  }

  /** Saves the platform's report about a lost session, if the shard still has this session. */
  async saveDisabled({ conduitId, id, sessionId, status }: DisabledShard): Promise<void> {
    await this.isChanged(
      `UPDATE conduit_shards SET status = $4, status_since = now()
       WHERE conduit_id = $1 AND shard_id = $2 AND session_id = $3 AND status = '${enabled}'`,
      [conduitId, id, sessionId, status || unassigned],
    );
  }

  /** Lets other connectors take the shards of a stopping connector. Removes this connector from the holders. */
  async leave(me: string): Promise<void> {
    await this.dataSource.query('DELETE FROM shard_holders WHERE id = $1', [me]);
    await this.dataSource.query(
      `UPDATE conduit_shards SET holder = NULL, held_until = NULL WHERE ${shardLease.isHeldBy('$1')}`,
      [me],
    );
  }

  /**
   * Saves that these sockets close, unless another connector has connected the shard with another session. Removes the session id for
   * `findClosed`, because the status can change before another connector has connected the shard.
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
