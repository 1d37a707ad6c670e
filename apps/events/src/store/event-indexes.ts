/**
 * An index on the table `events`. To change one, declare it under a new name, because existing stores do not rebuild an index of the same
 * name.
 */
export interface EventIndex {
  /** The name on `events`. On the partitions, PostgreSQL chooses the names. */
  name: string;
  /** The column that queries look up; see `indexKeys` for all columns of the index. */
  column: string;
  method: 'btree' | 'hash';
  /**
   * The condition of a partial index, or null. A statement with row comparisons or parameters must repeat it, or the planner cannot use the
   * index.
   */
  predicate: string | null;
}

/** Which indexes are ready for use. A new index of a store with events becomes ready once it exists on every partition. */
export interface IndexReadiness {
  isReady(indexName: string): boolean;
}

/** The primary key of `events`. */
export const primaryKey: EventIndex = { name: 'events_pkey', column: 'id', method: 'btree', predicate: null };

/**
 * The indexes of `events` apart from its primary key. docs/store-indexes.md names the queries that each index serves. A column that nearly
 * every row sets to one of a few values gets no index, or an index on its rare values only.
 */
export const secondaryIndexes: readonly EventIndex[] = [
  { name: 'events_event_type_index', column: 'event_type', method: 'btree', predicate: null },
  perType('broadcaster_user_id'),
  perType('user_id'),
  perType('user_name'),
  // This index only finds single events, so it needs no order. For long message ids, a hash index is half as large as a btree index.
  {
    name: 'events_event_id_hash_index',
    column: 'event_id',
    method: 'hash',
    predicate: 'event_id IS NOT NULL',
  },
  perType('reward_id'),
  perType('raid_from'),
  perType('raid_to'),
  perType('raid_from_id'),
  perType('raid_to_id'),
  // Nearly all events have these two values, so the indexes leave them out.
  perType('origin', "origin <> 'platform'"),
  perType('event_source', "event_source <> 'PlatformSub'"),
];

export const eventIndexes: readonly EventIndex[] = [primaryKey, ...secondaryIndexes];

/** Returns an index's columns in order: (id), (event_type, id), (column, event_type, id), or just the column for a hash index. */
export function indexKeys({ column, method }: EventIndex): string[] {
  if (method === 'hash' || column === 'id') return [column];
  return column === 'event_type' ? ['event_type', 'id'] : [column, 'event_type', 'id'];
}

/** Returns the part of CREATE INDEX after the table name. */
export function indexDefinition(index: EventIndex): string {
  const where = index.predicate === null ? '' : ` WHERE ${index.predicate}`;
  return `USING ${index.method} (${indexKeys(index).join(', ')})${where}`;
}

/** A btree index on (column, event_type, id). By default it skips rows without a value, so they cost nothing. */
function perType(column: string, predicate = `${column} IS NOT NULL`): EventIndex {
  return { name: `events_${column}_event_type_index`, column, method: 'btree', predicate };
}
