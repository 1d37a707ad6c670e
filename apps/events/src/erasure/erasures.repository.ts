import { Injectable } from '@nestjs/common';
import {
  maxListedErasures,
  ServiceError,
  type ErasedUserMessage,
  type ErasureCounts,
  type ErasureStage,
} from '@stream-events/contracts';
import { LeaseColumns } from '@stream-events/database';
import { DataSource, IsNull, type EntityManager } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { Erasure } from './erasure.entity.js';

/** The columns that change with each piece of work. */
export interface ErasureChange {
  stage: ErasureStage;
  position: unknown;
  progress: number;
  counts: ErasureCounts;
}

/** A running erasure. `ageMs` and `stageAgeMs` are in milliseconds by the database's clock. */
export interface RunningErasure extends Erasure {
  /** Time since the erasure was requested. */
  ageMs: number;
  /** Time since the current stage began. */
  stageAgeMs: number;
}

/** Another instance has taken over the erasure. */
export class LeaseLostError extends Error {
  constructor(id: string) {
    super(`another instance has taken over the erasure ${id}`);
  }
}

// Maximum number of erasures that have not ended. Each erasure reads the whole store, so a longer queue would take days.
const maxWaiting = 1_000;
/**
 * Events received up to this long after the request are erased too: gateway clocks differ, and instances learn about the erasure with a
 * delay.
 */
const includedMs = 5_000;

export const erasureLease = new LeaseColumns({ holder: 'leased_by', until: 'leased_until' }, 20);

/** Keeps erasures in the database, so that they survive crashes and every instance can show and continue them. */
@Injectable()
export class ErasuresRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates an erasure or a dry run. @throws ServiceError `conflict` when 1,000 erasures have not ended yet */
  async create(user: Pick<Erasure, 'platformUserId' | 'userHash'>, isDryRun: boolean): Promise<Erasure> {
    const waiting = await this.dataSource.manager.countBy(Erasure, { endedAt: IsNull() });
    if (waiting >= maxWaiting)
      throw new ServiceError(
        'conflict',
        `${maxWaiting} erasures are already waiting. Retry when one has ended.`,
      );
    const id = uuidV7();
    await this.dataSource.query(
      `INSERT INTO erasures (id, platform_user_id, user_hash, is_dry_run, stage, stage_began_at, progress, counts, created_at,
         erases_until, leased_until)
       VALUES ($1, $2, $3, $4, $5, now(), 0, '{}', now(), now() + interval '${includedMs} milliseconds', now())`,
      [id, user.platformUserId, user.userHash, isDryRun, isDryRun ? 'store' : 'announcing'],
    );
    return this.dataSource.manager.findOneByOrFail(Erasure, { id });
  }

  find(id: string): Promise<Erasure | null> {
    return this.dataSource.manager.findOneBy(Erasure, { id });
  }

  /** Returns the most recent erasures, newest first. */
  list(): Promise<Erasure[]> {
    return this.dataSource.manager.find(Erasure, { order: { id: 'DESC' }, take: maxListedErasures });
  }

  /**
   * Returns the users whose erasure is unfinished or ended at or after `endedSince` (milliseconds since 1970), and the database's time.
   * Without `endedSince`, returns only the users of unfinished erasures. Leaves out dry runs.
   */
  async listUsers(endedSince: number | undefined): Promise<{ users: ErasedUserMessage[]; now: number }> {
    const users = await this.dataSource.query<ErasedUserMessage[]>(
      `SELECT id, user_hash AS "userHash", stage IN ('caches', 'done') AS "isGone",
              floor(extract(epoch FROM erases_until) * 1000)::float8 AS until
       FROM erasures WHERE NOT is_dry_run AND (ended_at IS NULL OR ended_at >= to_timestamp($1::float8 / 1000))`,
      [endedSince ?? null],
    );
    const [row] = await this.dataSource.query<{ now: number }[]>(
      'SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now',
    );
    return { users, now: row?.now ?? Date.now() };
  }

  /** Claims the oldest unfinished erasure. Returns undefined when there is none, or when another instance is running it. */
  async claim(holder: string): Promise<RunningErasure | undefined> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE erasures SET ${erasureLease.take('$1')}
       WHERE id = (SELECT id FROM erasures WHERE ended_at IS NULL ORDER BY id LIMIT 1)
         AND ended_at IS NULL AND ${erasureLease.isExpired}`,
      [holder],
    );
    return count > 0 ? this.readHeld(holder) : undefined;
  }

  /** Returns the erasure that this holder runs; undefined when it has ended or another instance has taken it over. */
  async readHeld(holder: string): Promise<RunningErasure | undefined> {
    const { entities, raw } = await this.dataSource.manager
      .createQueryBuilder(Erasure, 'erasure')
      .addSelect('extract(epoch FROM now() - erasure.created_at)::float8 * 1000', 'ageMs')
      .addSelect('extract(epoch FROM now() - erasure.stage_began_at)::float8 * 1000', 'stageAgeMs')
      .where(`erasure.leased_by = :holder AND erasure.ended_at IS NULL`, { holder })
      .getRawAndEntities<{ ageMs: number; stageAgeMs: number }>();
    const [erasure] = entities;
    const [ages] = raw;
    return erasure && ages && { ...erasure, ageMs: ages.ageMs, stageAgeMs: ages.stageAgeMs };
  }

  /** Renews the lease. Returns false when the erasure has ended or another instance has taken it over. */
  async renew(holder: string): Promise<boolean> {
    const [, count] = await this.dataSource.query<[unknown, number]>(
      `UPDATE erasures SET ${erasureLease.renewal} WHERE ${isRunningUnder('$1')}`,
      [holder],
    );
    return count > 0;
  }

  /**
   * Records a piece of work and applies its changes to the store in one transaction, so that a crash cannot separate the two.
   *
   * @throws LeaseLostError when another instance has taken over the erasure; the transaction is rolled back
   */
  async advance(
    { id, leasedBy, stage }: Erasure,
    change: ErasureChange,
    apply?: (transaction: EntityManager) => Promise<void>,
  ): Promise<void> {
    await this.dataSource.transaction(async (transaction) => {
      const isDone = change.stage === 'done';
      const [, count] = await transaction.query<[unknown, number]>(
        `UPDATE erasures SET stage = $2, position = $3, progress = $4, counts = $5, error = NULL
           ${change.stage === stage ? '' : ', stage_began_at = clock_timestamp()'}
           ${isDone ? ', ended_at = clock_timestamp(), platform_user_id = NULL' : ''}
         WHERE ${isRunningUnder('$1')}`,
        [leasedBy, change.stage, json(change.position), change.progress, json(change.counts)],
      );
      if (count === 0) throw new LeaseLostError(id);
      await apply?.(transaction);
    });
  }

  /** Records why the erasure failed, and releases the lease so that any instance can continue it. */
  async fail(holder: string, error: string): Promise<void> {
    await this.dataSource.query(
      `UPDATE erasures SET error = $2, ${erasureLease.release} WHERE ${isRunningUnder('$1')}`,
      [holder, error],
    );
  }

  /** Lets any instance continue the erasure at once. */
  async release(holder: string): Promise<void> {
    await this.dataSource.query(`UPDATE erasures SET ${erasureLease.release} WHERE ${isRunningUnder('$1')}`, [
      holder,
    ]);
  }
}

function isRunningUnder(holder: string): string {
  return `ended_at IS NULL AND ${erasureLease.isHeldBy(holder)}`;
}

function json(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
