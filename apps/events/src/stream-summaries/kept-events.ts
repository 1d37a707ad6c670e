import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { RetentionRepository } from '../retention/retention.repository.js';
import type { Partition } from '../store/partitions.js';
import { PartitionsRepository } from '../store/partitions.repository.js';
import { RetentionPolicy } from '../store/retention-policy.js';

/** The partitions of the store, and the time from which the store contains all events. */
export interface KeptPast {
  /** The partitions of `events`, oldest first. */
  partitions: readonly Partition[];
  /** Retention has removed, or is removing, the events before this time (milliseconds since 1970); null when there are no partitions. */
  from: number | null;
}

/** Reads the time from which the store contains all events. */
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
    // `due` can be too early: raising RETENTION_DAYS does not bring back the events that retention has removed from a partition in use.
    const removed = (await this.records.readRemovedBefore()) ?? 0;
    return { partitions, from: Math.max(receivedAt(oldest.from), due, removed) };
  }
}
