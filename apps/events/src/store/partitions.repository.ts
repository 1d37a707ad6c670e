import { Injectable } from '@nestjs/common';
import { firstIdAt, receivedAt } from '@stream-events/contracts';
import { takeAdvisoryLock } from '@stream-events/database';
import { DataSource, type EntityManager } from 'typeorm';
import { endOfPartitionsAhead, findPartition, planPartition, type Partition } from './partitions.js';
import { RetentionPolicy } from './retention-policy.js';

/** A partition in PostgreSQL's catalog. */
export interface CatalogPartition extends Partition {
  /** Retention is removing the partition: its rows are invisible, but its range is still taken. */
  isDetaching: boolean;
}

/** Reads the partitions of `events`, and creates them ahead of time and on demand. */
@Injectable()
export class PartitionsRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly retention: RetentionPolicy = RetentionPolicy.forever,
  ) {}

  /** Returns the partitions whose rows are visible, newest first. */
  async list(): Promise<Partition[]> {
    const partitions = await this.readCatalog();
    return partitions
      .filter(({ isDetaching }) => !isDetaching)
      .map(({ name, from, to }) => ({ name, from, to }));
  }

  /** Returns all partitions, newest first. */
  readCatalog(): Promise<CatalogPartition[]> {
    return readCatalog(this.dataSource.manager);
  }

  /** Creates the partitions from `now` (milliseconds since 1970) to the end of the next month or, if daily, for the next week. */
  async ensureAhead(now: number): Promise<void> {
    const end = endOfPartitionsAhead(now, this.retention.partitionWidth);
    for (let id = firstIdAt(now); id < end;) id = (await this.ensure(id)).to;
  }

  /** Creates missing partitions for these ids. Ids far from the current time come from receivers with a wrong clock. */
  async ensureFor(ids: readonly string[]): Promise<void> {
    let last: Partition | undefined;
    for (const id of [...ids].sort()) if (!last || id >= last.to) last = await this.ensure(id);
  }

  /**
   * Returns the ids of events received before the retention period. This machine's clock may be wrong, so checks the database's time before
   * it treats an event as expired.
   */
  async findExpired(ids: readonly string[]): Promise<Set<string>> {
    const older = (cutoff: number | undefined, id: string): boolean =>
      cutoff !== undefined && id < firstIdAt(cutoff);
    const cutoff = this.retention.cutoff(Date.now());
    if (!ids.some((id) => older(cutoff, id))) return new Set();
    const [row] = await this.dataSource.query<{ now: number }[]>(
      'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now',
    );
    const certain = this.retention.cutoff(Math.min(Date.now(), row?.now ?? 0));
    return new Set(ids.filter((id) => older(certain, id)));
  }

  /** Returns for how many seconds the oldest partition has been overdue for removal. */
  async readOverdueSeconds(): Promise<number> {
    const oldest = (await this.readCatalog()).at(-1);
    return oldest ? this.retention.overdueMs(receivedAt(oldest.to), Date.now()) / 1_000 : 0;
  }

  /** Returns the partition that contains the id; creates the partition if it is missing. */
  private async ensure(id: string): Promise<Partition> {
    const existing = findPartition(id, await this.readCatalog());
    if (existing) return existing;
    return this.dataSource.transaction(async (manager) => {
      await takeAdvisoryLock(manager, 'eventPartitions');
      const partitions = await readCatalog(manager);
      const found = findPartition(id, partitions);
      if (found) return found;
      const planned = planPartition(id, this.retention.partitionWidth, partitions);
      const partition = { ...planned, name: await findFreeName(planned.name, manager) };
      await create(partition, manager);
      return partition;
    });
  }
}

/**
 * Creates the table with a range constraint, then attaches it. With the constraint, attaching neither blocks ingest nor scans the table;
 * `CREATE … PARTITION OF` would block ingest.
 */
async function create({ name, from, to }: Partition, manager: EntityManager): Promise<void> {
  await manager.query(
    `CREATE TABLE ${name} (LIKE events INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES)`,
  );
  await manager.query(
    `ALTER TABLE ${name} ADD CONSTRAINT ${name}_range CHECK (id >= '${from}' AND id < '${to}')`,
  );
  await manager.query(`ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES FROM ('${from}') TO ('${to}')`);
  await manager.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_range`);
}

/**
 * Returns an unused table name. The planned name can be taken while its range is free: by a detached partition that is not dropped yet, or
 * by an operator's copy.
 */
async function findFreeName(name: string, manager: EntityManager): Promise<string> {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}_v${number}`;
    const [row] = await manager.query<{ isTaken: boolean }[]>(
      'SELECT to_regclass($1) IS NOT NULL AS "isTaken"',
      [candidate],
    );
    if (!row?.isTaken) return candidate;
  }
}

function readCatalog(manager: EntityManager): Promise<CatalogPartition[]> {
  return manager.query<CatalogPartition[]>(
    `SELECT quote_ident(relname) AS name, range[1] AS "from", range[2] AS "to", inhdetachpending AS "isDetaching"
     FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
     CROSS JOIN regexp_match(pg_get_expr(relpartbound, inhrelid), $$FROM \\('([0-9a-f-]+)'\\) TO \\('([0-9a-f-]+)'\\)$$) AS range
     -- A partition that is dropped while the query runs has no range.
     WHERE inhparent = 'events'::regclass AND range IS NOT NULL
     ORDER BY range[1] COLLATE "C" DESC`,
  );
}
