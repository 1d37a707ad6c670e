import { Inject, Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import type { Partition } from '../store/partitions.js';
import { PartitionsRepository } from '../store/partitions.repository.js';
import { LIST_POOL } from './list-pool.js';

export interface Catalog {
  /** The partitions with rows, newest first. */
  partitions: readonly Partition[];
  /** The object ids of the partitions without rows, such as next month's. Pages skip them. */
  emptyPartitions: readonly string[];
  /** Changes when a partition is attached or detached, or when an empty partition gets its first row. */
  version: string;
}

/**
 * Returns the SQL expression for the catalog version. Every statement of a page returns this version. A page checks it after the first
 * statement, so that a stale catalog cannot make the page skip a partition. A partition counts as empty while its size on disk is 0.
 *
 * @param emptyPartitions the SQL parameter with the object ids of `Catalog.emptyPartitions`
 */
export function catalogVersion(emptyPartitions: string): string {
  return `(SELECT count(*) || '-' || sum(inhrelid::bigint) FROM pg_inherits WHERE inhparent = 'events'::regclass AND NOT inhdetachpending)
    || (SELECT count(*) FROM unnest(${emptyPartitions}::oid[]) AS partition (oid) WHERE pg_relation_size(oid) > 0)`;
}

/** Keeps the catalog of partitions in memory. */
@Injectable()
export class PartitionCatalog {
  private current: Promise<Catalog> | undefined;

  constructor(
    private readonly partitions: PartitionsRepository,
    @Inject(LIST_POOL) private readonly pool: Pool,
  ) {}

  /** The returned catalog may be stale. */
  read(): Promise<Catalog> {
    this.current ??= this.load();
    return this.current;
  }

  /** Makes the next `read` load the catalog again if `stale` is still the current one. */
  async discard(stale: Catalog): Promise<void> {
    const { current } = this;
    if (current && (await current) === stale && this.current === current) this.current = undefined;
  }

  /** Whether the database still has this version. */
  async isCurrent({ version, emptyPartitions }: Catalog): Promise<boolean> {
    return (await this.readVersion(emptyPartitions)) === version;
  }

  private async load(): Promise<Catalog> {
    try {
      for (;;) {
        const version = await this.readVersion([]);
        const all = await this.partitions.list();
        const emptyPartitions = await this.findEmpty(all);
        const partitions = all.filter(({ name }) => !emptyPartitions.has(name));
        const catalog = { partitions, emptyPartitions: [...emptyPartitions.values()], version };
        if (await this.isCurrent(catalog)) return catalog;
      }
    } catch (error) {
      this.current = undefined;
      throw error;
    }
  }

  /** Returns the object ids of the empty partitions, by name. */
  private async findEmpty(partitions: readonly Partition[]): Promise<Map<string, string>> {
    const { rows } = await this.pool.query<{ name: string; oid: string }>(
      `SELECT name, to_regclass(name)::oid::text AS oid FROM unnest($1::text[]) AS partition (name)
       WHERE pg_relation_size(to_regclass(name)) = 0`,
      [partitions.map(({ name }) => name)],
    );
    return new Map(rows.map(({ name, oid }) => [name, oid]));
  }

  private async readVersion(emptyPartitions: readonly string[]): Promise<string> {
    const { rows } = await this.pool.query<{ version: string }>(`SELECT ${catalogVersion('$1')} AS version`, [
      emptyPartitions,
    ]);
    return rows[0]?.version ?? '';
  }
}
