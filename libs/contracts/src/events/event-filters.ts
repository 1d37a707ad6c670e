/** Where `event_data` holds the value of a filter. The store keeps such a value in a column of its own. */
export type EventDataSource =
  /** Of the acting user; see `findActor`. */
  | { actor: 'id' | 'name' }
  /** The keys that lead to the value; of these event types only, if given. */
  | { path: readonly string[]; types?: readonly string[] };

/** A filter on a text. Its name is the query parameter, the field of a replay, and the column of the table `events`. */
export interface TextFilter {
  /** The field of `EventFilters`, and of the values that live delivery compares. */
  field: string;
  /** Whether the case counts (`exact`) or not (`folded`). */
  match: 'exact' | 'folded';
  /** Shown in the API description and in docs/live.md. */
  description: string;
  example: string;
  /** Without a source, the value is the field of this name in the event record. */
  source?: EventDataSource;
  /**
   * Which index drives a scan when several filters are given: that of the lowest rank. The column needs an index on
   * (column, id), and with `hasTypeIndex` also one on (event_type, column, id). The migration that adds the column creates
   * them.
   */
  rank: number;
  hasTypeIndex?: true;
}

/** A filter on the time when an event was received, which its id holds. */
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
 * this table. A new filter takes one row here, and one migration of the events service for its column and indexes.
 *
 * Cursors are bound to the filters in this order: append new rows at the end, or the upgrade invalidates cursors.
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

/** The name of a filter on a text. */
export type TextFilterName = {
  [Name in EventFilterName]: Filters[Name] extends TextFilter ? Name : never;
}[EventFilterName];

type TimeFilterName = Exclude<EventFilterName, TextFilterName>;

type FieldOf<Name extends EventFilterName> = Filters[Name]['field'];

/** The values of filters by field. Times are milliseconds since 1970. */
export type EventFilterValues = { [Name in TextFilterName as FieldOf<Name>]?: string } & {
  [Name in TimeFilterName as FieldOf<Name>]?: number;
};

/** The values that the store derives from `event_data`, by field. Null: the event has none, or none to filter on. */
export type EventColumns = {
  [Name in TextFilterName as Filters[Name] extends { source: EventDataSource } ? FieldOf<Name> : never]:
    string | null;
};

/** A filter on a text with its name. */
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

/** The filters on texts, in the order of the table. */
export const textFilters = namedFilters.filter((filter) => 'rank' in filter) as readonly NamedTextFilter[]; // holds: the table's own names and fields

/** The filters on times, in the order of the table. */
export const timeFilters = namedFilters.filter((filter) => !('rank' in filter)) as readonly {
  name: TimeFilterName;
  field: FieldOf<TimeFilterName>;
}[]; // holds: rows without a rank are those

/** The filters whose values are columns derived from `event_data`, in the order of the table. */
export const derivedFilters = textFilters.filter(
  (filter): filter is DerivedFilter => filter.source !== undefined, // holds: EventColumns has the fields of these rows
);
