/**
 * An index of the table `events`. To change an index, declare it under a new name and retire the old name: existing stores
 * keep an index whose name has not changed.
 */
export interface EventIndex {
  /** Name of the index on `events`. PostgreSQL chooses the names of its parts on the partitions. */
  name: string;
  /** The column that queries look up; see `indexKeys` for all columns of the index. */
  column: string;
  method: 'btree' | 'hash';
  /**
   * Condition of a partial index, or null. A statement with row comparisons or parameters must repeat this condition, because
   * the planner cannot derive it.
   */
  predicate: string | null;
}

/** Which indexes are ready for use. During an upgrade, an index is not ready until it exists on every partition. */
export interface IndexReadiness {
  isReady(indexName: string): boolean;
}

/** The primary key of `events`. */
export const primaryKey: EventIndex = { name: 'events_pkey', column: 'id', method: 'btree', predicate: null };

/** The index on the event types. Every version has created this index, so it is always ready. */
export const eventTypeIndex: EventIndex = {
  name: 'events_event_type_index',
  column: 'event_type',
  method: 'btree',
  predicate: null,
};

/**
 * The indexes of `events` apart from its primary key. docs/store-indexes.md names the queries that each index serves. A column that is set
 * in nearly every row and has few values gets no index, or an index on its rare values.
 */
export const secondaryIndexes: readonly EventIndex[] = [
  eventTypeIndex,
  perType('broadcaster_user_id'),
  perType('user_id'),
  perType('user_name'),
  // This index finds single events only, so the order of its entries does not matter. A hash index on long message ids is half as large as
  // a btree index.
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
  // Nearly all events come from the platform's subscriptions.
  perType('origin', "origin <> 'platform'"),
  perType('event_source', "event_source <> 'PlatformSub'"),
];

/** Every index of `events`. */
export const eventIndexes: readonly EventIndex[] = [primaryKey, ...secondaryIndexes];

/** The indexes of version 0.1.0 that no query uses anymore. The index builder drops these indexes when all other indexes are ready. */
export const retiredIndexes: readonly string[] = [
  'events_event_source_index',
  'events_origin_index',
  'events_event_id_index',
  'events_user_id_index',
  'events_user_name_index',
  'events_broadcaster_index',
  'events_reward_id_index',
  'events_raid_from_index',
  'events_raid_to_index',
  'events_type_user_id_index',
  'events_type_user_name_index',
  'events_type_broadcaster_index',
];

/** Returns the columns of an index in order: (id), (event_type, id), (column, event_type, id), or the column of a hash index. */
export function indexKeys({ column, method }: EventIndex): string[] {
  if (method === 'hash' || column === 'id') return [column];
  return column === 'event_type' ? ['event_type', 'id'] : [column, 'event_type', 'id'];
}

/** Returns the part of CREATE INDEX after the name of the table. */
export function indexDefinition(index: EventIndex): string {
  const where = index.predicate === null ? '' : ` WHERE ${index.predicate}`;
  return `USING ${index.method} (${indexKeys(index).join(', ')})${where}`;
}

/** Returns a btree index on (column, event_type, id). The index leaves out rows that cannot match, so that they cost nothing. */
function perType(column: string, predicate = `${column} IS NOT NULL`): EventIndex {
  return { name: `events_${column}_event_type_index`, column, method: 'btree', predicate };
}
