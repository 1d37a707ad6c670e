import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { takeAdvisoryLock } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import { partitionAt, partitionsAhead, type Partition } from './partitions.js';

/** Creates the partitions of `events`, ahead of time and on demand. */
@Injectable()
export class PartitionsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Creates the partitions of this month and the next. */
  async ensureAhead(now: number): Promise<void> {
    for (const partition of partitionsAhead(now)) await this.ensure(partition);
  }

  /** Creates the partitions for these ids. Needed for events from a receiver whose clock is far off. */
  async ensureFor(ids: readonly string[]): Promise<void> {
    const partitions = new Map(
      ids.map((id) => partitionAt(receivedAt(id))).map((partition) => [partition.name, partition]),
    );
    for (const partition of partitions.values()) await this.ensure(partition);
  }

  /**
   * Creates the table, adds the constraint, then attaches the table. `CREATE … PARTITION OF` would stop ingest; attaching a
   * table with this constraint neither stops ingest nor scans the table.
   */
  private async ensure({ name, from, to }: Partition): Promise<void> {
    if (await isAttached(name, this.dataSource.manager)) return;
    await this.dataSource.transaction(async (manager) => {
      await takeAdvisoryLock(manager, 'eventPartitions');
      if (await isAttached(name, manager)) return;
      await manager.query(
        `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)`,
      );
      await manager.query(
        `ALTER TABLE ${name} ADD CONSTRAINT ${name}_range CHECK (id >= '${from}' AND id < '${to}')`,
      );
      await manager.query(
        `ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`,
      );
      await manager.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_range`);
    });
  }
}

async function isAttached(name: string, manager: EntityManager): Promise<boolean> {
  const rows = await manager.query<unknown[]>(
    `SELECT 1 FROM pg_inherits WHERE inhparent = 'events'::regclass AND inhrelid = to_regclass($1)`,
    [name],
  );
  return rows.length > 0;
}
