import { ServiceError } from '../errors.js';
import { foldCase } from '../text.js';
import { filterColumns, type FilterColumnField, type FilterColumnName } from './filter-columns.js';

/** A text filter. Its key in `eventFilters` is also the name of its query parameter and its field in a replay. */
export interface TextFilter {
  /** Field of `EventFilters`. */
  field: string;
  /** An event matches if any of these columns has the value. All of them have the same `match`. */
  columns: readonly FilterColumnName[];
  /** Maximum number of values. Set only if the parameter is a comma-separated list. */
  maxValues?: number;
  /** Appears in the API description and in docs/live.md. */
  description: string;
  example: string;
}

/** A filter on the time of receipt, which is part of the event's id. */
export interface TimeFilter {
  field: string;
  /** `since` is inclusive, `until` exclusive. */
  match: 'since' | 'until';
  description: string;
  example: string;
}

/**
 * All event filters. The contract, the store's SQL, query parameters, replay filters, the API description, and docs/live.md derive from
 * this table. A new filter needs one row here, and one in `filterColumns` if it reads a new column.
 *
 * The checksum of a cursor covers the filter values in this order. Append new rows at the end. Otherwise existing cursors become invalid.
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
    description:
      'Id of the channel, also of the channel in the condition of a revoked subscription; exact match. Does not match raids, which name two channels',
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

/** Name of a filter in the API. */
export type EventFilterName = keyof Filters;

/** Name of a text filter. */
export type TextFilterName = {
  [Name in EventFilterName]: Filters[Name] extends TextFilter ? Name : never;
}[EventFilterName];

type TimeFilterName = Exclude<EventFilterName, TextFilterName>;

type FieldOf<Name extends EventFilterName> = Filters[Name]['field'];

/** Filter values by field. Times are milliseconds since 1970. */
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

/** Text filters, in table order. */
// Safe cast: names and fields come from the table.
export const textFilters = namedFilters.filter((filter) => 'columns' in filter) as readonly NamedTextFilter[];

/** Time filters, in table order. */
export const timeFilters = namedFilters.filter((filter) => !('columns' in filter)) as readonly {
  name: TimeFilterName;
  field: FieldOf<TimeFilterName>;
}[]; // Safe cast: the rows without columns are the time filters.

/**
 * Parses a text filter's parameter. Ignores an empty value.
 *
 * @throws ServiceError `invalid` if a list has too many values
 */
export function parseTextFilter(name: TextFilterName, text: string): EventFilterValues {
  const { field, maxValues }: TextFilter = eventFilters[name];
  if (maxValues === undefined) return text === '' ? {} : { [field]: text };
  const values = splitFilterList(text);
  if (values.length > maxValues) throw ServiceError.onField(name, filterListFault(maxValues));
  return values.length === 0 ? {} : { [field]: values };
}

/** Splits a list filter's parameter. Trims values, and drops empty and repeated ones. */
export function splitFilterList(text: string): string[] {
  const values = text.split(',').map((value) => value.trim());
  return [...new Set(values)].filter((value) => value !== '');
}

/** Returns the error message for a list with too many values. */
export function filterListFault(maxValues: number): string {
  return `must have at most ${maxValues} values, separated by commas`;
}

/** A condition on an event: any of the columns has any of the values. Without values, no event meets it. */
export interface FilterCondition {
  filter: NamedTextFilter;
  columns: readonly { name: FilterColumnName; field: FilterColumnField }[];
  /** Values as the column stores them: case-folded if the column ignores case. */
  values: readonly string[];
}

/** Text filter values by field. For a list, the event must have at least one of its values. */
export type TextFilterValues = Readonly<
  Partial<Record<FieldOf<TextFilterName>, string | readonly string[] | undefined>>
>;

/** An event's values for comparison with conditions, by field. */
export type FilteredFields = Readonly<Record<FilterColumnField, unknown>>;

const compiledFilters = textFilters.map((filter) => ({
  filter,
  columns: filter.columns.map((name) => ({ name, field: filterColumns[name].field })),
  isFolded: filter.columns.every((name) => filterColumns[name].match === 'folded'),
}));

/** Converts text filters to conditions, in table order. An event must meet all of them. Ignores empty values. */
export function toConditions(filters: TextFilterValues): FilterCondition[] {
  return textFilters.flatMap(({ name, field }) => {
    const values = [filters[field] ?? []].flat().filter((value) => value !== '');
    return values.length === 0 ? [] : [toCondition(name, values)];
  });
}

/** Returns the condition that an event has one of these values in one of the filter's columns. */
export function toCondition(name: TextFilterName, values: readonly string[]): FilterCondition {
  const compiled = compiledFilters.find(({ filter }) => filter.name === name);
  if (!compiled) throw new Error(`there is no text filter ${name}`);
  const { filter, columns, isFolded } = compiled;
  return { filter, columns, values: isFolded ? values.map(foldCase) : values };
}

/** Compiles conditions into a function that returns whether an event meets all of them. */
export function compileConditions(
  conditions: readonly FilterCondition[],
): (fields: FilteredFields) => boolean {
  const compiled = conditions.map(({ columns, values }) => ({
    fields: columns.map(({ field }) => field),
    values: new Set<unknown>(values),
  }));
  return (event) => compiled.every(({ fields, values }) => fields.some((field) => values.has(event[field])));
}
