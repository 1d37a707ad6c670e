import { Injectable } from '@nestjs/common';
import { ServiceError } from '@stream-events/contracts';
import { DataSource, In } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Replay, type ReplayStatus } from './replay.entity.js';

/** What somebody wants to be replayed. */
export type ReplayOrder = Pick<
  Replay,
  'filters' | 'since' | 'until' | 'rate' | 'connectionName' | 'createdBy'
>;

/** How far a replay is. */
export type Progress = Pick<Replay, 'replayed' | 'position'>;

// Each reads pages and sends as much as it may: at most 10,000 events a second in all.
const maxRunning = 10;
// Ended ones are kept as long as they are among the newest.
const maxKept = 100;
// It is renewed twice a second, but a page may take 5 s to fail, and a pause 2 s: a gateway that is silent for longer has died.
const lease = "interval '10 seconds'";

/** Keeps account of replays of ranges, so that any gateway shows and cancels them, and another goes on when one dies. */
@Injectable()
export class ReplaysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Notes a replay, which is leased to the gateway that begins it.
   *
   * @throws ServiceError `conflict` when too many run already
   */
  async create(order: ReplayOrder, gateway: string): Promise<Replay> {
    return this.dataSource.transaction(async (manager) => {
      // One at a time: the limit is one for all gateways together.
      await manager.query('LOCK TABLE replays IN SHARE ROW EXCLUSIVE MODE');
      if ((await manager.countBy(Replay, { status: 'running' })) >= maxRunning)
        throw new ServiceError(
          'conflict',
          `${maxRunning} replays run, which is the most. Cancel one, or wait.`,
        );
      const id = uuidV7();
      const { filters, since, until, rate, connectionName, createdBy } = order;
      await manager.query(
        `INSERT INTO replays (id, status, filters, since, until, rate, connection_name, replayed, created_at, created_by,
           leased_by, leased_until)
         VALUES ($1, 'running', $2, $3, $4, $5, $6, 0, now(), $7, $8, now() + ${lease})`,
        [id, JSON.stringify(filters), since, until, rate, connectionName, createdBy, gateway],
      );
      await manager.query(
        `DELETE FROM replays WHERE status <> 'running'
           AND id NOT IN (SELECT id FROM replays ORDER BY id DESC LIMIT ${maxKept})`,
      );
      return manager.findOneByOrFail(Replay, { id });
    });
  }

  /** The newest, and all that run. */
  async list(): Promise<Replay[]> {
    return this.dataSource.manager.find(Replay, { order: { id: 'DESC' } });
  }

  async find(id: string): Promise<Replay | null> {
    return this.dataSource.manager.findOneBy(Replay, { id });
  }

  /** Cancels one that runs, removes one that has ended; false when there is none. */
  async cancelOrRemove(id: string): Promise<boolean> {
    const [, cancelled] = await this.dataSource.query<[unknown, number]>(
      `UPDATE replays SET status = 'cancelled', ended_at = now() WHERE id = $1 AND status = 'running'`,
      [id],
    );
    if (cancelled > 0) return true;
    const [, removed] = await this.dataSource.query<[unknown, number]>(
      `DELETE FROM replays WHERE id = $1 AND status <> 'running'`,
      [id],
    );
    return removed > 0;
  }

  /**
   * Leases to a gateway what should run and nobody renews, but for those that it runs itself: they renew their leases once
   * they can again.
   */
  async takeOver(gateway: string, running: readonly string[]): Promise<Replay[]> {
    const [rows] = await this.dataSource.query<[{ id: string }[], number]>(
      `UPDATE replays SET leased_by = $1, leased_until = now() + ${lease}
       WHERE id IN (SELECT id FROM replays WHERE status = 'running' AND leased_until < now() AND id <> ALL ($2::uuid[])
                    FOR UPDATE SKIP LOCKED)
       RETURNING id`,
      [gateway, running],
    );
    if (rows.length === 0) return [];
    return this.dataSource.manager.findBy(Replay, { id: In(rows.map(({ id }) => id)) });
  }

  /** Notes how far a gateway's replay is, and renews its lease; false when it was cancelled, or is another gateway's now. */
  async note(id: string, gateway: string, { replayed, position }: Progress): Promise<boolean> {
    const [rows] = await this.dataSource.query<[{ status: ReplayStatus }[], number]>(
      `UPDATE replays SET replayed = $3, position = $4, leased_until = now() + ${lease}
       WHERE id = $1 AND leased_by = $2 RETURNING status`,
      [id, gateway, replayed, position],
    );
    return rows[0]?.status === 'running';
  }

  /** Ends a gateway's replay: well, or with the reason why not. */
  async end(id: string, gateway: string, error: string | null): Promise<void> {
    await this.dataSource.query(
      `UPDATE replays SET status = $3, error = $4, ended_at = now()
       WHERE id = $1 AND leased_by = $2 AND status = 'running'`,
      [id, gateway, error === null ? 'done' : 'failed', error],
    );
  }

  /** Gives up a gateway's leases: another takes over at once. */
  async release(gateway: string): Promise<void> {
    await this.dataSource.query('UPDATE replays SET leased_until = now() WHERE leased_by = $1', [gateway]);
  }
}
