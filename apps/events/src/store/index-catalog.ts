import type { DataSource } from 'typeorm';
import { primaryKey } from './event-indexes.js';

/** An index of `events` or of a partition. `table` and `name` are already quoted for SQL. */
export interface CatalogIndex {
  table: string;
  name: string;
  /** The part of the definition after the table name. */
  definition: string;
  /** False while the index is being built, and after an interrupted build. */
  isValid: boolean;
  /** The index of `events` that this index is attached to; null for the indexes of `events`. */
  parent: string | null;
}

export interface IndexCatalog {
  /** Newest first. */
  partitions: readonly string[];
  indexes: readonly CatalogIndex[];
}

/** Leaves out partitions that are being detached. */
export async function readIndexCatalog(dataSource: DataSource): Promise<IndexCatalog> {
  const indexes = await dataSource.query<CatalogIndex[]>(
    `SELECT quote_ident(tables.relname) AS "table", quote_ident(indexes.relname) AS name, indisvalid AS "isValid",
            substring(pg_get_indexdef(indexrelid) FROM ' (USING .*)$') AS definition, parents.relname AS parent
     FROM pg_index
       JOIN pg_class AS tables ON tables.oid = indrelid
       JOIN pg_class AS indexes ON indexes.oid = indexrelid
       LEFT JOIN pg_inherits AS attached ON attached.inhrelid = indexrelid
       LEFT JOIN pg_class AS parents ON parents.oid = attached.inhparent
     WHERE indrelid = 'events'::regclass OR indrelid IN (
       SELECT inhrelid FROM pg_inherits WHERE inhparent = 'events'::regclass AND NOT inhdetachpending)
     -- A partition's range starts with the time of its first id, so this order is newest first.
     ORDER BY pg_get_expr(tables.relpartbound, tables.oid) DESC NULLS LAST, indexes.relname`,
  );
  // Every partition has the primary key.
  const partitions = indexes.filter(({ parent }) => parent === primaryKey.name).map(({ table }) => table);
  return { partitions, indexes };
}
