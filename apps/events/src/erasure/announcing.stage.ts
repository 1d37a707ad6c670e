import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { maxAgeMs } from '../store/recent-value.js';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

// The longest time from when a write reads the list of erased users until its transaction begins: the write waits up to 3 s for a
// connection (the connection timeout of the pools).
const connectLimitMs = 3_000;
/** A write that begins at least this long after the erasure was requested knows about the erasure. */
const announcementMs = maxAgeMs + connectLimitMs;
// The longest wait for earlier transactions. Every write ends within 10 s (the statement timeout). Longer transactions are not writes: for
// example, building an index can take hours.
const statementLimitMs = 12_000;
const intervalMs = 250;

/**
 * Waits until no instance stores events of the user anymore. Without this stage, a write that began before the erasure could store an event
 * in a part of the store that `StoreStage` has already searched.
 */
@Injectable()
export class AnnouncingStage implements Stage {
  readonly name = 'announcing';

  constructor(private readonly dataSource: DataSource) {}

  async run({ id, ageMs }: RunningErasure): Promise<ErasureStep> {
    const progress = Math.min(1, ageMs / announcementMs);
    if (ageMs < announcementMs) return { isComplete: false, progress, pauseMs: intervalMs };
    const isComplete = ageMs > announcementMs + statementLimitMs || !(await this.hasEarlierWrites(id));
    return { isComplete, progress, pauseMs: intervalMs };
  }

  /** Whether a transaction that may have begun before every instance knew about the erasure is still running. */
  private async hasEarlierWrites(id: string): Promise<boolean> {
    const [row] = await this.dataSource.query<{ found: boolean }[]>(
      `SELECT EXISTS (
         SELECT FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
           AND pid <> pg_backend_pid() AND backend_type = 'client backend'
           AND xact_start < (SELECT created_at + interval '${announcementMs} milliseconds' FROM erasures WHERE id = $1)
       ) AS found`,
      [id],
    );
    return row?.found ?? false;
  }
}
