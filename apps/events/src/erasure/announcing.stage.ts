import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { maxAgeMs } from '../store/recent-value.js';
import type { ErasureStep, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

// How long a write may wait for a connection (the pools' connection timeout) between reading the list of erased users and starting its
// transaction.
const connectLimitMs = 3_000;
/** A transaction that starts at least this long after the request belongs to a write that already knows about the erasure. */
const announcementMs = maxAgeMs + connectLimitMs;
// How long the stage waits for transactions that started before the end of `announcementMs`. Most writes are a single statement, which the
// statement timeout ends within 10 s; writes of raids consist of several. The stage ignores transactions that
// run longer, because hardly any of them is a write. An index build, for example, can take hours.
const writeLimitMs = 60_000;
const intervalMs = 250;

/**
 * Waits until every instance knows about the erasure, so that no instance stores events that the erasure covers. Without this stage, an
 * ongoing write could store an event in a part of the store that `StoreStage` has already searched.
 */
@Injectable()
export class AnnouncingStage implements Stage {
  readonly name = 'announcing';

  constructor(private readonly dataSource: DataSource) {}

  async run({ id, ageMs }: RunningErasure): Promise<ErasureStep> {
    const progress = Math.min(1, ageMs / announcementMs);
    if (ageMs < announcementMs) return { isComplete: false, progress, pauseMs: intervalMs };
    const isComplete = ageMs > announcementMs + writeLimitMs || !(await this.hasEarlierWrites(id));
    return { isComplete, progress, pauseMs: intervalMs };
  }

  /** Whether a transaction is still running that started before every instance knew about the erasure. */
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
