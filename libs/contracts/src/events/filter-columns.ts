import type { IdentityRole } from './identity-keys.js';

/** The place of a column's value in `event_data`. */
export type EventDataSource =
  /** The id or name of the user or channel with this role, and the event types that have the value (default: all). */
  | { role: IdentityRole; part: 'id' | 'name'; types?: readonly string[] }
  /** Path of keys to the value. */
  | { path: readonly string[] };

/** A text column of the table `events` that filters read. */
export interface FilterColumn {
  /** Field with this value when the service handles an event in memory. */
  field: string;
  /** `exact` is case-sensitive; `folded` ignores case. */
  match: 'exact' | 'folded';
  /** Without a source, the value is the record's field with the column's name. */
  source?: EventDataSource;
}

/** Event types that report a raid. */
const raidTypes: readonly string[] = ['raid', 'channel-raid'];

/**
 * Text columns that filters read, by name in the table `events`. For a column with a source, the service extracts the value from
 * `event_data` when it stores an event. A new column needs a row here, a migration of the events service, and indexes for its filters. In
 * events that are already stored, the new column is null until you backfill it.
 */
export const filterColumns = {
  event_type: { field: 'eventType', match: 'exact' },
  event_source: { field: 'eventSource', match: 'exact' },
  origin: { field: 'origin', match: 'exact' },
  event_id: { field: 'eventId', match: 'exact' },
  user_id: { field: 'userId', match: 'folded', source: { role: 'actor', part: 'id' } },
  user_name: { field: 'userName', match: 'folded', source: { role: 'actor', part: 'name' } },
  reward_id: { field: 'rewardId', match: 'folded', source: { path: ['reward', 'id'] } },
  raid_from: {
    field: 'raidFrom',
    match: 'folded',
    source: { role: 'raider', part: 'name', types: raidTypes },
  },
  raid_to: {
    field: 'raidTo',
    match: 'folded',
    source: { role: 'raided', part: 'name', types: raidTypes },
  },
  broadcaster_user_id: {
    field: 'broadcasterUserId',
    match: 'exact',
    source: { role: 'channel', part: 'id' },
  },
  raid_from_id: {
    field: 'raidFromId',
    match: 'exact',
    source: { role: 'raider', part: 'id', types: raidTypes },
  },
  raid_to_id: {
    field: 'raidToId',
    match: 'exact',
    source: { role: 'raided', part: 'id', types: raidTypes },
  },
} as const satisfies Record<string, FilterColumn>;

type Columns = typeof filterColumns;

/** Name of a column that filters read. */
export type FilterColumnName = keyof Columns;

/** Field of a column that filters read. */
export type FilterColumnField = Columns[FilterColumnName]['field'];

/** Values that the service derives from `event_data`, by field. Null if the event has no such value or filters cannot use it. */
export type EventColumns = {
  [
    Name in FilterColumnName as Columns[Name] extends { source: EventDataSource }
      ? Columns[Name]['field']
      : never
  ]: string | null;
};

/** A column whose value the service derives from `event_data`. */
export interface DerivedColumn extends FilterColumn {
  name: FilterColumnName;
  field: keyof EventColumns;
  source: EventDataSource;
}

/** All columns derived from `event_data`, in table order. */
export const derivedColumns = Object.entries(filterColumns).flatMap(([name, column]) =>
  'source' in column ? [{ name, ...column }] : [],
) as readonly DerivedColumn[]; // Safe cast: names and fields come from the table.
