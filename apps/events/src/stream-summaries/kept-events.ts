import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { RetentionRepository } from '../retention/retention.repository.js';
import type { Partition } from '../store/partitions.js';
import { PartitionsRepository } from '../store/partitions.repository.js';
import { RetentionPolicy } from '../store/retention-policy.js';

/** The partitions of the store, and the time from which it is complete. */
export interface KeptPast {
  /** The partitions of `events`, oldest first. */
  partitions: readonly Partition[];
  /** The store has no events from before this time (milliseconds since 1970), or retention is removing them. Null without partitions. */
  from: number | null;
}

/** Determines the time from which the store has all events. */
@Injectable()
export class KeptEvents {
  constructor(
    private readonly partitions: PartitionsRepository,
    private readonly retention: RetentionPolicy,
    private readonly records: RetentionRepository,
  ) {}

  async read(): Promise<KeptPast> {
    const partitions = (await this.partitions.list()).reverse();
    const [oldest] = partitions;
    if (!oldest) return { partitions, from: null };
    const due = this.retention.cutoff(Date.now()) ?? 0;
    // `due` is too early after RETENTION_DAYS was raised: removed events stay removed, even in a partition that is still in use.
    const removed = (await this.records.readRemovedBefore()) ?? 0;
    return { partitions, from: Math.max(receivedAt(oldest.from), due, removed) };
  }
}
