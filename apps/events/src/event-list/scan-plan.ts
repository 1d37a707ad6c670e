import {
  filterColumns,
  isStorableText,
  toConditions,
  type EventFilters,
  type FilterColumn,
  type FilterColumnName,
  type FilterCondition,
} from '@stream-events/contracts';
import { secondaryIndexes, type EventIndex, type IndexReadiness } from '../store/event-indexes.js';
import { estimateShare, type TableStatistics } from './event-statistics.js';

/** An index that returns the rows with given values of its column. */
export interface Source {
  index: EventIndex;
  /** The only event types whose events have a value in the column; undefined: all types. */
  types: readonly string[] | undefined;
}

/**
 * How a list is read. The sources return the rows that meet one condition and have one of the event types. The `rest` of the
 * conditions is checked row by row. Without sources, all rows are read in order of id.
 */
export interface ScanPlan {
  sources: readonly Source[];
  /** The values that the sources look up. Empty when the event types drive the scan. */
  values: readonly string[];
  /** The event types that the sources look up. Null: all types. */
  types: readonly string[] | null;
  rest: readonly FilterCondition[];
  /** Estimated share of the scanned rows that meet the rest of the conditions. */
  restShare: number;
}

/** What the choice of an index depends on. */
export interface Knowledge {
  statistics: TableStatistics;
  indexes: IndexReadiness;
}

// Without statistics, the condition on the first of these columns drives the scan.
const usualOrder: readonly FilterColumnName[] = [
  'event_id',
  'reward_id',
  'raid_from',
  'raid_to',
  'user_id',
  'user_name',
  'event_source',
  'origin',
  'broadcaster_user_id',
];

// Assumed for a value without statistics.
const usualShare = 0.05;

// Looking up the event types of one value costs about as much as reading this many rows in order of id.
const rowsPerValue = 200;

// A scan in order of id suits only values that many rows have. With fewer rows, it would use up the time of many pages.
const minShareInOrder = 0.02;

/** Plans the scan of a list: the rarest condition that has an index drives it. Null: no event can match the filters. */
export function planScan(filters: EventFilters, knowledge: Knowledge): ScanPlan | null {
  const conditions = toConditions(filters).map(withStorableValues);
  const types = commonTypes(conditions.filter(isOnType));
  if (types?.length === 0 || conditions.some(({ values }) => values.length === 0)) return null;
  const others = conditions.filter((condition) => !isOnType(condition));
  const [driver] = others
    .filter((condition) => sourcesOf(condition, knowledge.indexes).length > 0)
    .sort((one, other) => compareRarity(one, other, knowledge.statistics));
  if (driver && !isCheaperInOrder(driver, conditions, knowledge.statistics))
    return driveBy(driver, { conditions, types, ...knowledge });
  const typeIndex = findIndex('event_type', types ?? [], knowledge.indexes);
  if (driver || !types || !typeIndex)
    return { sources: [], values: [], types: null, ...check(conditions, knowledge) };
  return {
    sources: [{ index: typeIndex, types: undefined }],
    values: [],
    types,
    ...check(others, knowledge),
  };
}

/** A text that cannot be stored matches nothing. */
function withStorableValues(condition: FilterCondition): FilterCondition {
  return { ...condition, values: condition.values.filter(isStorableText) };
}

function driveBy(
  driver: FilterCondition,
  {
    conditions,
    types,
    statistics,
    indexes,
  }: Knowledge & { conditions: readonly FilterCondition[]; types: readonly string[] | null },
): ScanPlan {
  const sources = sourcesOf(driver, indexes);
  const rest = conditions.filter((condition) => condition !== driver);
  const { values } = driver;
  // The hash index on event_id has no event types.
  if (sources.some(({ index }) => index.method === 'hash'))
    return { sources, values, types: null, ...check(rest, { statistics }) };
  return {
    sources,
    values,
    types,
    ...check(
      rest.filter((condition) => !isOnType(condition)),
      { statistics },
    ),
  };
}

function check(rest: readonly FilterCondition[], { statistics }: Pick<Knowledge, 'statistics'>) {
  const restShare = rest.reduce(
    (share, condition) => share * (estimateShare(statistics, condition) ?? usualShare),
    1,
  );
  return { rest, restShare };
}

/** Whether reading rows in order of id is cheaper than looking up each of the driver's values, because many rows meet all conditions. */
function isCheaperInOrder(
  driver: FilterCondition,
  conditions: readonly FilterCondition[],
  statistics: TableStatistics,
): boolean {
  // An index on one value is always cheap, even when the value has become rare.
  if (driver.values.length === 1) return false;
  const shares = conditions.map((condition) => estimateShare(statistics, condition) ?? 0);
  const share = shares.reduce((product, factor) => product * factor, 1);
  return share >= minShareInOrder && 1 / share < rowsPerValue * driver.values.length;
}

/** The indexes that together return the rows that meet a condition. Empty when one of them is missing. */
function sourcesOf({ columns, values }: FilterCondition, indexes: IndexReadiness): Source[] {
  const sources = columns.flatMap(({ name }) => {
    const index = findIndex(name, values, indexes);
    return index ? [{ index, types: typesOf(name) }] : [];
  });
  return sources.length === columns.length ? sources : [];
}

function findIndex(
  column: FilterColumnName,
  values: readonly string[],
  indexes: IndexReadiness,
): EventIndex | undefined {
  return secondaryIndexes.find(
    (index) =>
      index.column === column &&
      indexes.isReady(index.name) &&
      // A partial index leaves out the value that nearly every row has.
      values.every((value) => index.predicate !== `${column} <> '${value}'`),
  );
}

function typesOf(column: FilterColumnName): readonly string[] | undefined {
  const { source }: FilterColumn = filterColumns[column];
  return source && 'types' in source ? source.types : undefined;
}

function compareRarity(one: FilterCondition, other: FilterCondition, statistics: TableStatistics): number {
  const shares = [one, other].map((condition) => estimateShare(statistics, condition));
  const [oneShare, otherShare] = shares;
  if (oneShare !== undefined && otherShare !== undefined && oneShare !== otherShare)
    return oneShare - otherShare;
  return usualPlace(one) - usualPlace(other);
}

function usualPlace({ columns }: FilterCondition): number {
  return Math.max(...columns.map(({ name }) => usualOrder.indexOf(name)));
}

function isOnType({ columns }: FilterCondition): boolean {
  return columns.every(({ name }) => name === 'event_type');
}

/** The event types that all conditions allow. Null: the conditions allow all types. */
function commonTypes(conditions: readonly FilterCondition[]): readonly string[] | null {
  const [first, ...others] = conditions;
  if (!first) return null;
  return first.values.filter((type) => others.every(({ values }) => values.includes(type)));
}
