import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { LeaseColumns, violatedConstraint } from '@stream-events/database';
import { DataSource, In } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import type { ReplayStatus } from '../replays/replay.entity.js';
import { rehearsalLimits } from './rehearsal-limits.js';
import { Rehearsal } from './rehearsal.entity.js';

export type RehearsalOrder = Pick<
  Rehearsal,
  | 'userId'
  | 'connectionName'
  | 'streamerId'
  | 'streamId'
  | 'filters'
  | 'since'
  | 'until'
  | 'speed'
  | 'isPaused'
  | 'reachedAt'
  | 'createdBy'
>;

/** What a run saves twice a second. */
export type RehearsalProgress = Pick<Rehearsal, 'reachedAt' | 'position' | 'sent' | 'connections'> & {
  /** True unless the rehearsal is paused or no connection receives it. */
  isPlaying: boolean;
};

/** Undefined fields stay unchanged. */
export type RehearsalChange = Partial<Pick<Rehearsal, 'speed' | 'isPaused' | 'reachedAt'>>;

// Leases last 6 s, and a run renews its lease twice a second. Without a database connection, a renewal fails after 3 s, and the run tries
// again after 0.5 s. A gateway whose lease has expired is therefore dead, or cannot reach the database.
const lease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 6);

/** Stores rehearsals in the database, where every gateway can show, change, and take over those of other gateways. */
@Injectable()
export class RehearsalsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Stores a new rehearsal, leased to the gateway that starts it.
   *
   * @throws ServiceError `too_many_requests` if too many rehearsals are running; `conflict` if a rehearsal for this connection is running;
   * `invalid` on `user` if the user does not exist
   */
  async create(order: RehearsalOrder, gateway: string): Promise<Rehearsal> {
    try {
      return await this.insert(order, gateway);
    } catch (error) {
      const constraint = violatedConstraint(error);
      if (constraint === 'rehearsals_user_fkey')
        throw ServiceError.onField('user', 'must be the id of a user');
      if (constraint !== 'rehearsals_connection_unique') throw error;
      throw new ServiceError(
        'conflict',
        `A rehearsal for the connection ${order.connectionName} is already running. Stop or change that rehearsal.`,
      );
    }
  }

  /** Lists the rehearsals of one user or of everybody, newest first. */
  async list(userId: string | undefined): Promise<Rehearsal[]> {
    return this.dataSource.manager.find(Rehearsal, {
      where: userId === undefined ? {} : { userId },
      order: { id: 'DESC' },
    });
  }

  async find(id: string): Promise<Rehearsal | null> {
    return this.dataSource.manager.findOneBy(Rehearsal, { id });
  }

  /** Changes a running rehearsal. A new `reachedAt` begins a new pass. Returns null if no such rehearsal is running. */
  async change(id: string, { speed, isPaused, reachedAt }: RehearsalChange): Promise<Rehearsal | null> {
    const [, changed] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rehearsals SET speed = coalesce($2, speed), is_paused = coalesce($3, is_paused),
         reached_at = coalesce($4, reached_at),
         position = CASE WHEN $4::timestamptz IS NULL THEN position END,
         pass = pass + CASE WHEN $4::timestamptz IS NULL THEN 0 ELSE 1 END,
         revision = revision + 1, moved_at = now()
       WHERE id = $1 AND status = 'running'`,
      [id, speed ?? null, isPaused ?? null, reachedAt ?? null],
    );
    return changed === 0 ? null : this.find(id);
  }

  /** Cancels a running rehearsal, or deletes an ended one. */
  async stopOrRemove(id: string): Promise<void> {
    const [, stopped] = await this.dataSource.query<[unknown, number]>(
      `UPDATE rehearsals SET status = 'cancelled', ended_at = now() WHERE id = $1 AND status = 'running'`,
      [id],
    );
    if (stopped === 0)
      await this.dataSource.query(`DELETE FROM rehearsals WHERE id = $1 AND status <> 'running'`, [id]);
  }

  /**
   * Leases running rehearsals with expired leases to `gateway`. Skips those in `running`: this gateway runs them itself and will renew
   * their leases.
   */
  async takeOver(gateway: string, running: readonly string[]): Promise<Rehearsal[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(
      `UPDATE rehearsals SET ${lease.take('$1')}
       WHERE id IN (SELECT id FROM rehearsals WHERE status = 'running' AND ${lease.isExpired} AND id <> ALL ($2::uuid[])
                    FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [gateway, running],
    );
    if (rows.length === 0) return [];
    return this.dataSource.manager.findBy(Rehearsal, { id: In(rows.map(({ id }) => id)) });
  }

  /**
   * Renews the lease and saves the progress. Does not save the position of an earlier pass, because a client has moved the rehearsal since
   * then. Returns the stored rehearsal, or null if it has ended or another gateway has taken it over.
   */
  async saveProgress(
    { id, pass }: Pick<Rehearsal, 'id' | 'pass'>,
    gateway: string,
    { reachedAt, position, sent, connections, isPlaying }: RehearsalProgress,
  ): Promise<Rehearsal | null> {
    await this.dataSource.query(
      `UPDATE rehearsals SET
         reached_at = CASE WHEN pass = $3 THEN $4 ELSE reached_at END,
         position = CASE WHEN pass = $3 THEN $5::uuid ELSE position END,
         sent = $6, connections = $7,
         moved_at = CASE WHEN $8 THEN greatest(moved_at, now()) ELSE moved_at END, ${lease.renewal}
       WHERE id = $1 AND ${lease.isHeldBy('$2')} AND status = 'running'`,
      [id, gateway, pass, reachedAt, position, sent, connections, isPlaying],
    );
    return this.dataSource.manager.findOneBy(Rehearsal, { id, leasedBy: gateway, status: 'running' });
  }

  /** Ends a rehearsal that `gateway` runs, unless a client has changed it since `revision`. */
  async end(
    { id, revision }: Pick<Rehearsal, 'id' | 'revision'>,
    gateway: string,
    outcome: { status: ReplayStatus; error: string | null },
  ): Promise<void> {
    await this.dataSource.query(
      `UPDATE rehearsals SET status = $4, error = $5, ended_at = now()
       WHERE id = $1 AND ${lease.isHeldBy('$2')} AND status = 'running' AND revision = $3`,
      [id, gateway, revision, outcome.status, outcome.error],
    );
  }

  /** Releases the leases of `gateway`, so that other gateways can take over at once. */
  async release(gateway: string): Promise<void> {
    await this.dataSource.query(`UPDATE rehearsals SET ${lease.release} WHERE ${lease.isHeldBy('$1')}`, [
      gateway,
    ]);
  }

  private async insert(order: RehearsalOrder, gateway: string): Promise<Rehearsal> {
    const { userId, connectionName, streamerId, streamId, filters, createdBy } = order;
    const { since, until, speed, isPaused, reachedAt } = order;
    return this.dataSource.transaction(async (manager) => {
      // Allow only one insert at a time, because the limits count the rehearsals of all gateways.
      await manager.query('LOCK TABLE rehearsals IN SHARE ROW EXCLUSIVE MODE');
      const running = await manager.find(Rehearsal, {
        select: { id: true, userId: true },
        where: { status: 'running' },
      });
      refuseTooMany(running, userId);
      const id = uuidV7();
      await manager.query(
        `INSERT INTO rehearsals (id, status, user_id, connection_name, streamer_id, stream_id, filters, since, until, speed, is_paused,
           reached_at, pass, revision, sent, connections, moved_at, created_at, created_by, leased_by, leased_until)
         VALUES ($1, 'running', $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, 0, 0, now(), now(), $12, $13, ${lease.end})`,
        [
          ...[id, userId, connectionName, streamerId, streamId, JSON.stringify(filters), since, until, speed],
          ...[isPaused, reachedAt, createdBy, gateway],
        ],
      );
      await manager.query(
        `DELETE FROM rehearsals WHERE user_id = $1 AND status <> 'running' AND id NOT IN
           (SELECT id FROM rehearsals WHERE user_id = $1 ORDER BY id DESC LIMIT ${rehearsalLimits.keptPerUser})`,
        [userId],
      );
      return manager.findOneByOrFail(Rehearsal, { id });
    });
  }
}

function refuseTooMany(running: readonly Pick<Rehearsal, 'userId'>[], userId: string): void {
  const { perUser, total } = rehearsalLimits;
  const own = running.filter((other) => other.userId === userId).length;
  if (own < perUser && running.length < total) return;
  const what =
    own < perUser
      ? `The service is running ${total} rehearsals`
      : `${perUser} rehearsals for this user are running`;
  throw new ServiceError(
    'too_many_requests',
    `${what}, the maximum. Stop a rehearsal, or retry when one has ended.`,
    { retryAfterSeconds: 10 },
  );
}
