import { ServiceError } from '../errors.js';
import { foldCase } from '../text.js';
import { filterColumns, type FilterColumnField, type FilterColumnName } from './filter-columns.js';

/** A text filter. The key of the filter in `eventFilters` is also the name of its query parameter and of its field in a replay. */
export interface TextFilter {
  /** The field of `EventFilters`. */
  field: string;
  /**
   * The columns that the filter reads. An event matches when any of these columns has the value. All of these columns have the same
   * `match`.
   */
  columns: readonly FilterColumnName[];
  /** The maximum number of values. Set only for a filter whose parameter is a comma-separated list. */
  maxValues?: number;
  /** Shown in the API description and in docs/live.md. */
  description: string;
  example: string;
}

/** A filter on the time of receipt, which the event's id contains. */
export interface TimeFilter {
  field: string;
  /** `since` is inclusive, `until` exclusive. */
  match: 'since' | 'until';
  description: string;
  example: string;
}

/**
 * The filters of events, declared once. The contract, the SQL conditions of the store, the query parameters of the event list and
 * of live delivery, the filters of replays, the API description, and the list in docs/live.md derive from this table. A new filter
 * needs one row here, and a row in `filterColumns` if it reads a new column.
 *
 * Cursors contain the values of the filters in this order. Append new rows at the end. Otherwise, the upgrade invalidates cursors.
 */
export const eventFilters = {
  event_type: {
    field: 'eventType',
    columns: ['event_type'],
    description: 'Event type; exact match',
    example: 'channel-raid',
  },
  user_id: {
    field: 'userId',
    columns: ['user_id'],
    description: 'Id of the acting user; ignores case',
    example: '12826',
  },
  user_name: {
    field: 'userName',
    columns: ['user_name'],
    description: 'Name of the acting user; ignores case',
    example: 'some_viewer',
  },
  reward_id: {
    field: 'rewardId',
    columns: ['reward_id'],
    description: 'Id of the redeemed reward; ignores case',
    example: '92af127c-7326-4483-a52b-b0da0be61c01',
  },
  raid_from: {
    field: 'raidFrom',
    columns: ['raid_from'],
    description: 'Name of the raiding channel; ignores case, matches raids only',
    example: 'raider',
  },
  raid_to: {
    field: 'raidTo',
    columns: ['raid_to'],
    description: 'Name of the raided channel; ignores case, matches raids only',
    example: 'mira_plays',
  },
  broadcaster_user_id: {
    field: 'broadcasterUserId',
    columns: ['broadcaster_user_id'],
    description: 'Id of the channel; exact match. Does not match raids, which name two channels',
    example: '47019283',
  },
  origin: {
    field: 'origin',
    columns: ['origin'],
    description: 'Origin of the event: `platform` or `test`. Live events can also have `replay`',
    example: 'platform',
  },
  event_source: {
    field: 'eventSource',
    columns: ['event_source'],
    description: 'Event source; exact match',
    example: 'PlatformSub',
  },
  event_id: {
    field: 'eventId',
    columns: ['event_id'],
    description: 'The platform’s message id, or the `event_id` of a test event; exact match',
    example: 'f8a34c0f-53b5-4f1d-9d6f-0c8d1f3c2b10',
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
  event_types: {
    field: 'eventTypes',
    columns: ['event_type'],
    maxValues: 20,
    description:
      'Up to 20 event types, separated by commas. Matches events of any of these types; exact match',
    example: 'channel-raid,channel-cheer',
  },
  channel_id: {
    field: 'channelId',
    columns: ['broadcaster_user_id', 'raid_from_id', 'raid_to_id'],
    description:
      'Id of a channel; exact match. Matches all events about the channel, including raids from it and to it',
    example: '47019283',
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
export type EventFilterValues = {
  [Name in TextFilterName as FieldOf<Name>]?: Filters[Name] extends { maxValues: number } ? string[] : string;
} & {
  [Name in TimeFilterName as FieldOf<Name>]?: number;
};

/** A text filter with its name. */
export interface NamedTextFilter extends TextFilter {
  name: TextFilterName;
  field: FieldOf<TextFilterName>;
}

const namedFilters = Object.entries(eventFilters).map(([name, filter]) => ({ name, ...filter }));

/** The text filters, in the order of the table. */
export const textFilters = namedFilters.filter((filter) => 'columns' in filter) as readonly NamedTextFilter[]; // Safe cast: names and fields come from the table.

/** The time filters, in the order of the table. */
export const timeFilters = namedFilters.filter((filter) => !('columns' in filter)) as readonly {
  name: TimeFilterName;
  field: FieldOf<TimeFilterName>;
}[]; // Safe cast: the rows without columns are the time filters.

/**
 * Parses the parameter of a text filter. Ignores an empty value.
 *
 * @throws ServiceError `invalid` for a list with too many values
 */
export function parseTextFilter(name: TextFilterName, text: string): EventFilterValues {
  const { field, maxValues }: TextFilter = eventFilters[name];
  if (maxValues === undefined) return text === '' ? {} : { [field]: text };
  const values = splitFilterList(text);
  if (values.length > maxValues) throw ServiceError.onField(name, filterListFault(maxValues));
  return values.length === 0 ? {} : { [field]: values };
}

/** Splits the parameter of a list filter. Trims the values, and drops empty and repeated ones. */
export function splitFilterList(text: string): string[] {
  const values = text.split(',').map((value) => value.trim());
  return [...new Set(values)].filter((value) => value !== '');
}

/** Returns the error message for a list filter with too many values. */
export function filterListFault(maxValues: number): string {
  return `must have at most ${maxValues} values, separated by commas`;
}

/** A condition on an event: any of the columns has any of the values. Without values, no event meets the condition. */
export interface FilterCondition {
  filter: NamedTextFilter;
  columns: readonly { name: FilterColumnName; field: FilterColumnField }[];
  /** The values in the form that the column stores: case-folded if the column ignores case. */
  values: readonly string[];
}

/** Values of text filters, by field: one value, or a list. The event must have at least one value of the list. */
export type TextFilterValues = Readonly<
  Partial<Record<FieldOf<TextFilterName>, string | readonly string[] | undefined>>
>;

/** The values of an event that conditions are compared with, by field. */
export type FilteredFields = Readonly<Record<FilterColumnField, unknown>>;

const compiledFilters = textFilters.map((filter) => ({
  filter,
  columns: filter.columns.map((name) => ({ name, field: filterColumns[name].field })),
  isFolded: filter.columns.every((name) => filterColumns[name].match === 'folded'),
}));

/** Returns the conditions of text filters, in the order of the table. An event must meet all of them. Ignores empty values. */
export function toConditions(filters: TextFilterValues): FilterCondition[] {
  return textFilters.flatMap(({ name, field }) => {
    const values = [filters[field] ?? []].flat().filter((value) => value !== '');
    return values.length === 0 ? [] : [toCondition(name, values)];
  });
}

/** Returns the condition of a text filter: an event must have one of these values. */
export function toCondition(name: TextFilterName, values: readonly string[]): FilterCondition {
  const compiled = compiledFilters.find(({ filter }) => filter.name === name);
  if (!compiled) throw new Error(`there is no text filter ${name}`);
  const { filter, columns, isFolded } = compiled;
  return { filter, columns, values: isFolded ? values.map(foldCase) : values };
}

/** Compiles conditions into a function that tests the values of an event. The event must meet all conditions. */
export function compileConditions(
  conditions: readonly FilterCondition[],
): (fields: FilteredFields) => boolean {
  const compiled = conditions.map(({ columns, values }) => ({
    fields: columns.map(({ field }) => field),
    values: new Set<unknown>(values),
  }));
  return (event) => compiled.every(({ fields, values }) => fields.some((field) => values.has(event[field])));
}
