import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { maxAgeMs } from '../store/recent-value.js';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

// A write looks at the list of erased users, waits up to 3 s for a connection (the time limit of the pools), then begins.
const connectLimitMs = 3_000;
/** After this time, every write that begins has seen the erasure. */
const announcementMs = maxAgeMs + connectLimitMs;
// A write ends within 10 s, the time limit of a statement. Other statements, such as building an index, can take hours.
const statementLimitMs = 12_000;
const intervalMs = 250;

/**
 * Waits until no instance stores events of the user any more. Without this stage, a write that began before the erasure could store
 * an event in a part of the store that was searched already.
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

  /** Whether a transaction of the events services is still running that may have begun before they knew about the erasure. */
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
