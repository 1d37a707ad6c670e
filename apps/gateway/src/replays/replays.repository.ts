import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { LeaseColumns } from '@stream-events/database';
import { DataSource, In } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Replay, type ReplayStatus } from './replay.entity.js';

export type ReplayOrder = Pick<
  Replay,
  'filters' | 'since' | 'until' | 'rate' | 'connectionName' | 'createdBy'
>;

export type Progress = Pick<Replay, 'replayed' | 'position'>;

// Maximum number of running replays. Each sends at most 1,000 events per second, so together they send at most 10,000.
const maxRunning = 10;
// Each new replay deletes the finished replays that are not among this many newest replays. Running replays count too.
const maxKept = 100;
// A lease lasts 10 s. A run renews its lease twice a second, or after at most 7.5 s when a read begins just before the renewal (0.5 s) and
// fails (5 s), and the run then pauses (2 s). An expired lease therefore means that its gateway is dead or cannot reach the database.
const lease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 10);

/** Stores the replays of ranges, so that every gateway can show, cancel, and take over the replays of other gateways. */
@Injectable()
export class ReplaysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Stores a new replay, leased to the gateway that starts it.
   *
   * @throws ServiceError `conflict` if too many replays are running
   */
  async create(order: ReplayOrder, gateway: string): Promise<Replay> {
    return this.dataSource.transaction(async (manager) => {
      // Serialize inserts, because the limit counts the replays of all gateways.
      await manager.query('LOCK TABLE replays IN SHARE ROW EXCLUSIVE MODE');
      if ((await manager.countBy(Replay, { status: 'running' })) >= maxRunning)
        throw new ServiceError(
          'conflict',
          `${maxRunning} replays are running, the maximum. Cancel a replay, or retry when one has finished.`,
        );
      const id = uuidV7();
      const { filters, since, until, rate, connectionName, createdBy } = order;
      await manager.query(
        `INSERT INTO replays (id, status, filters, since, until, rate, connection_name, replayed, created_at, created_by,
           leased_by, leased_until)
         VALUES ($1, 'running', $2, $3, $4, $5, $6, 0, now(), $7, $8, ${lease.end})`,
        [id, JSON.stringify(filters), since, until, rate, connectionName, createdBy, gateway],
      );
      await manager.query(
        `DELETE FROM replays WHERE status <> 'running'
           AND id NOT IN (SELECT id FROM replays ORDER BY id DESC LIMIT ${maxKept})`,
      );
      return manager.findOneByOrFail(Replay, { id });
    });
  }

  /** Lists all stored replays, newest first. */
  async list(): Promise<Replay[]> {
    return this.dataSource.manager.find(Replay, { order: { id: 'DESC' } });
  }

  async find(id: string): Promise<Replay | null> {
    return this.dataSource.manager.findOneBy(Replay, { id });
  }

  /** Cancels a running replay, or deletes a finished replay. Returns false if the replay does not exist. */
  async cancelOrRemove(id: string): Promise<boolean> {
    const [, canceled] = await this.dataSource.query<[unknown, number]>(
      `UPDATE replays SET status = 'cancelled', ended_at = now() WHERE id = $1 AND status = 'running'`,
      [id],
    );
    if (canceled > 0) return true;
    const [, removed] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM replays WHERE id = $1 AND status <> 'running'`,
      [id],
    );
    return removed > 0;
  }

  /**
   * Leases to `gateway` the running replays whose leases have expired, and returns them. Skips the replays in `running`, because
   * `gateway` runs them itself and renews their leases as soon as it can.
   */
  async takeOver(gateway: string, running: readonly string[]): Promise<Replay[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(
      `UPDATE replays SET ${lease.take('$1')}
       WHERE id IN (SELECT id FROM replays WHERE status = 'running' AND ${lease.isExpired} AND id <> ALL ($2::uuid[])
                    FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [gateway, running],
    );
    if (rows.length === 0) return [];
    return this.dataSource.manager.findBy(Replay, { id: In(rows.map(({ id }) => id)) });
  }

  /** Saves the progress of a replay that `gateway` runs, and renews the lease. Returns false if the replay was canceled or taken over. */
  async saveProgress(id: string, gateway: string, { replayed, position }: Progress): Promise<boolean> {
    const [rows] = await this.dataSource.query<[{ status: ReplayStatus }[], number]>(
      `UPDATE replays SET replayed = $3, position = $4, ${lease.renewal}
       WHERE id = $1 AND ${lease.isHeldBy('$2')} RETURNING status`,
      [id, gateway, replayed, position],
    );
    return rows[0]?.status === 'running';
  }

  /** Ends a replay that `gateway` runs: as `failed` if `error` is set, otherwise as `done`. */
  async end(id: string, gateway: string, error: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE replays SET status = $3, error = $4, ended_at = now()
       WHERE id = $1 AND ${lease.isHeldBy('$2')} AND status = 'running'`,
      [id, gateway, error === null ? 'done' : 'failed', error],
    );
  }

  /** Releases the leases of `gateway`, so that another gateway takes over immediately. */
  async release(gateway: string): Promise<void> {
    await this.dataSource.query(`UPDATE replays SET ${lease.release} WHERE ${lease.isHeldBy('$1')}`, [
      gateway,
    ]);
  }
}
