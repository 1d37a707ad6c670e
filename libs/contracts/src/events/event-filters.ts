/** Where `event_data` holds the value of a filter. The store keeps each such value in its own column. */
export type EventDataSource =
  /** A value of the acting user; see `findActor`. */
  | { actor: 'id' | 'name' }
  /** The path of keys to the value, and the event types that have it (default: all types). */
  | { path: readonly string[]; types?: readonly string[] };

/** A text filter. Its name is the query parameter, the field of a replay, and the column of the table `events`. */
export interface TextFilter {
  /** The field of `EventFilters`, and of the values that live delivery compares. */
  field: string;
  /** Whether matching is case-sensitive (`exact`) or not (`folded`). */
  match: 'exact' | 'folded';
  /** Shown in the API description and in docs/live.md. */
  description: string;
  example: string;
  /** Without a source, the value is the field of this name in the event record. */
  source?: EventDataSource;
  /**
   * When several filters are given, the index of the lowest rank drives the scan. The column needs an index on
   * (column, id), and with `hasTypeIndex` also one on (event_type, column, id). The migration that adds the column creates
   * them.
   */
  rank: number;
  hasTypeIndex?: true;
}

/** A filter on the time of receipt, which the event's id contains. */
export interface TimeFilter {
  field: string;
  /** `since` is inclusive, `until` exclusive. */
  match: 'since' | 'until';
  description: string;
  example: string;
}

const raidTypes = ['raid', 'channel-raid'];

/**
 * The filters of events, declared once. The contract, the columns of the store, its SQL conditions, the query parameters of
 * the event list and of live delivery, the filters of replays, the API description, and the list in docs/live.md derive from
 * this table. A new filter needs one row here, and one migration of the events service for its column and indexes. The filter
 * matches only events that are stored after the upgrade, unless the migration also fills the column of stored events.
 *
 * Cursors contain the values of the filters in this order: append new rows at the end, or the upgrade invalidates cursors.
 */
export const eventFilters = {
  event_type: {
    field: 'eventType',
    match: 'exact',
    description: 'Event type; exact match',
    example: 'channel-raid',
    rank: 8,
  },
  user_id: {
    field: 'userId',
    match: 'folded',
    description: 'Id of the acting user; ignores case',
    example: '12826',
    source: { actor: 'id' },
    rank: 5,
    hasTypeIndex: true,
  },
  user_name: {
    field: 'userName',
    match: 'folded',
    description: 'Name of the acting user; ignores case',
    example: 'some_viewer',
    source: { actor: 'name' },
    rank: 6,
    hasTypeIndex: true,
  },
  reward_id: {
    field: 'rewardId',
    match: 'folded',
    description: 'Id of the redeemed reward; ignores case',
    example: '92af127c-7326-4483-a52b-b0da0be61c01',
    source: { path: ['reward', 'id'] },
    rank: 2,
  },
  raid_from: {
    field: 'raidFrom',
    match: 'folded',
    description: 'Name of the raiding channel; ignores case, matches raids only',
    example: 'raider',
    source: { path: ['from_broadcaster_user_name'], types: raidTypes },
    rank: 3,
  },
  raid_to: {
    field: 'raidTo',
    match: 'folded',
    description: 'Name of the raided channel; ignores case, matches raids only',
    example: 'mira_plays',
    source: { path: ['to_broadcaster_user_name'], types: raidTypes },
    rank: 4,
  },
  broadcaster_user_id: {
    field: 'broadcasterUserId',
    match: 'exact',
    description: 'Id of the channel; exact match. Does not match raids, which name two channels',
    example: '47019283',
    source: { path: ['broadcaster_user_id'] },
    rank: 7,
    hasTypeIndex: true,
  },
  origin: {
    field: 'origin',
    match: 'exact',
    description: '`platform` or `test`; live events can also have `replay`',
    example: 'platform',
    rank: 10,
  },
  event_source: {
    field: 'eventSource',
    match: 'exact',
    description: 'Event source; exact match',
    example: 'PlatformSub',
    rank: 9,
  },
  event_id: {
    field: 'eventId',
    match: 'exact',
    description: 'The platform’s message id, or the `event_id` of a test event; exact match',
    example: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
    rank: 1,
  },
  since: {
    field: 'since',
    match: 'since',
    description: 'Events created at or after this ISO 8601 time',
    example: '2026-11-21T00:00:00Z',
  },
  until: {
    field: 'until',
    match: 'until',
    description: 'Events created before this ISO 8601 time',
    example: '2026-11-22T00:00:00Z',
  },
} as const satisfies Record<string, TextFilter | TimeFilter>;

type Filters = typeof eventFilters;

/** The name of a filter, as the API spells it. */
export type EventFilterName = keyof Filters;

/** The name of a text filter. */
export type TextFilterName = {
  [Name in EventFilterName]: Filters[Name] extends TextFilter ? Name : never;
}[EventFilterName];

type TimeFilterName = Exclude<EventFilterName, TextFilterName>;

type FieldOf<Name extends EventFilterName> = Filters[Name]['field'];

/** The values of filters by field. Times are milliseconds since 1970. */
export type EventFilterValues = { [Name in TextFilterName as FieldOf<Name>]?: string } & {
  [Name in TimeFilterName as FieldOf<Name>]?: number;
};

/**
 * The values that the store derives from `event_data`, by field. Null: the event has no such value, or none that filters can use.
 */
export type EventColumns = {
  [Name in TextFilterName as Filters[Name] extends { source: EventDataSource } ? FieldOf<Name> : never]:
    string | null;
};

/** A text filter with its name. */
export interface NamedTextFilter extends TextFilter {
  name: TextFilterName;
  field: FieldOf<TextFilterName>;
}

/** A filter whose value the store derives from `event_data`. `name` is the column. */
export interface DerivedFilter extends TextFilter {
  name: TextFilterName;
  field: keyof EventColumns;
  source: EventDataSource;
}

const namedFilters = Object.entries(eventFilters).map(([name, filter]) => ({ name, ...filter }));

/** The text filters, in the order of the table. */
export const textFilters = namedFilters.filter((filter) => 'rank' in filter) as readonly NamedTextFilter[]; // Safe cast: names and fields come from the table.

/** The time filters, in the order of the table. */
export const timeFilters = namedFilters.filter((filter) => !('rank' in filter)) as readonly {
  name: TimeFilterName;
  field: FieldOf<TimeFilterName>;
}[]; // Safe cast: the rows without a rank are the time filters.

/** The filters whose values are columns derived from `event_data`, in the order of the table. */
export const derivedFilters = textFilters.filter(
  (filter): filter is DerivedFilter => filter.source !== undefined, // Safe: EventColumns has the fields of these rows.
);
