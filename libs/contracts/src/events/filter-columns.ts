/** Where `event_data` holds the value of a column. */
export type EventDataSource =
  /** A value that describes the acting user; see `findActor`. */
  | { actor: 'id' | 'name' }
  /** The path of keys to the value, and the event types that have it (default: all types). */
  | { path: readonly string[]; types?: readonly string[] };

/** A text column of the table `events` that filters read. */
export interface FilterColumn {
  /** The name of the field that holds this value when the service handles an event in memory. */
  field: string;
  /** Whether matching is case-sensitive (`exact`) or not (`folded`). */
  match: 'exact' | 'folded';
  /** Without a source, the value comes from the field of the event record that has the column's name. */
  source?: EventDataSource;
}

/** The types of events that report a raid. */
export const raidTypes: readonly string[] = ['raid', 'channel-raid'];

/**
 * The text columns that filters read, by their names in the table `events`. A column with a source keeps a value of `event_data` that the
 * service extracts when it stores the event. A new column needs one row here, one migration of the events service, and the indexes of its
 * filters. In events that are already stored, a new column is null until you backfill it.
 */
export const filterColumns = {
  event_type: { field: 'eventType', match: 'exact' },
  event_source: { field: 'eventSource', match: 'exact' },
  origin: { field: 'origin', match: 'exact' },
  event_id: { field: 'eventId', match: 'exact' },
  user_id: { field: 'userId', match: 'folded', source: { actor: 'id' } },
  user_name: { field: 'userName', match: 'folded', source: { actor: 'name' } },
  reward_id: { field: 'rewardId', match: 'folded', source: { path: ['reward', 'id'] } },
  raid_from: {
    field: 'raidFrom',
    match: 'folded',
    source: { path: ['from_broadcaster_user_name'], types: raidTypes },
  },
  raid_to: {
    field: 'raidTo',
    match: 'folded',
    source: { path: ['to_broadcaster_user_name'], types: raidTypes },
  },
  broadcaster_user_id: {
    field: 'broadcasterUserId',
    match: 'exact',
    source: { path: ['broadcaster_user_id'] },
  },
  raid_from_id: {
    field: 'raidFromId',
    match: 'exact',
    source: { path: ['from_broadcaster_user_id'], types: raidTypes },
  },
  raid_to_id: {
    field: 'raidToId',
    match: 'exact',
    source: { path: ['to_broadcaster_user_id'], types: raidTypes },
  },
} as const satisfies Record<string, FilterColumn>;

type Columns = typeof filterColumns;

/** The name of a column that filters read. */
export type FilterColumnName = keyof Columns;

/** The field of a column that filters read. */
export type FilterColumnField = Columns[FilterColumnName]['field'];

/**
 * The values that the store derives from `event_data`, by field. A field is null when the event has no such value, or when filters cannot
 * use the value.
 */
export type EventColumns = {
  [
    Name in FilterColumnName as Columns[Name] extends { source: EventDataSource }
      ? Columns[Name]['field']
      : never
  ]: string | null;
};

/** A column whose value the store derives from `event_data`, with its name. */
export interface DerivedColumn extends FilterColumn {
  name: FilterColumnName;
  field: keyof EventColumns;
  source: EventDataSource;
}

/** The columns whose values are derived from `event_data`, in the order of the table. */
export const derivedColumns = Object.entries(filterColumns).flatMap(([name, column]) =>
  'source' in column ? [{ name, ...column }] : [],
) as readonly DerivedColumn[]; // Safe cast: names and fields come from the table.
