import {
  filterColumns,
  isStorableText,
  toConditions,
  toLimitConditions,
  type FilterColumn,
  type FilterColumnName,
  type FilterCondition,
  type ListEventsRequest,
} from '@stream-events/contracts';
import { secondaryIndexes, type EventIndex, type IndexReadiness } from '../store/event-indexes.js';
import { estimateShare, type TableStatistics } from './event-statistics.js';

/** An index that finds rows by the value of its column. */
export interface Source {
  index: EventIndex;
  /** The only event types that have a value in the column; undefined for any type. */
  types: readonly string[] | undefined;
}

/**
 * How a statement finds the rows of several ranges of an index. A range contains the rows with one value and one event type, in order of
 * id.
 *
 * - `one`: the statement reads one range, or all rows by id
 * - `each`: there are few ranges, and the statement reads the first rows of each
 * - `skipped`: there are few values, each with any event type or one of many; the statement finds the types of each value by skipping
 *   through the index from type to type, and reads only the ranges that begin first
 */
export type RangeSearch = 'one' | 'each' | 'skipped';

/**
 * How to read a list. The sources return the rows that meet one condition (the driver) and have one of the event types. The statement
 * checks the other conditions, `rest`, row by row. Without sources, the statement reads all rows by id.
 */
export interface ScanPlan {
  sources: readonly Source[];
  /** The values that the sources look up. Empty when the event types alone drive the scan. */
  values: readonly string[];
  /** The event types that the sources look up; null for all types. */
  types: readonly string[] | null;
  ranges: RangeSearch;
  rest: readonly FilterCondition[];
  /** Estimated share of the scanned rows that meet all conditions of `rest`. */
  restShare: number;
}

/** What the choice of an index depends on. */
export interface Knowledge {
  statistics: TableStatistics;
  indexes: IndexReadiness;
}

// Without statistics, the column with the lowest number drives the scan, because its values are usually the rarest.
const usualPlaces: Record<FilterColumnName, number> = {
  event_id: 0,
  reward_id: 1,
  raid_from: 2,
  raid_to: 3,
  raid_from_id: 4,
  raid_to_id: 5,
  user_id: 6,
  user_name: 7,
  event_source: 8,
  origin: 9,
  broadcaster_user_id: 10,
  event_type: 11,
};

// Assumed share of rows that meet a condition without statistics.
const usualShare = 0.05;

// Maximum number of values × types that a statement looks up. It reads the first rows of each, so more would take longer than reading rows
// by id. The filter `event_types` has up to this many values, and an index must serve it.
const maxRanges = 20;

// Minimum share of matching rows for a scan by id. Below it, many pages would reach their time limits.
const minShareInOrder = 0.02;

/**
 * Plans the scan of a list: the rarest condition with few ranges of an index drives the scan, unless checking events in order or by type is
 * cheaper. A condition with more than 20 combinations of values and types only drives the scan if it has a single value. Otherwise, the
 * statement checks the condition row by row. Returns null when no event can match.
 */
export function planScan(
  { filters, limits }: Pick<ListEventsRequest, 'filters' | 'limits'>,
  knowledge: Knowledge,
): ScanPlan | null {
  const conditions = simplify([...toConditions(filters), ...toLimitConditions(limits)]);
  if (conditions.some(({ values }) => values.length === 0)) return null;
  const type = conditions.find(isOnType);
  const others = conditions.filter((condition) => !isOnType(condition));
  const inOrder = planOf({ sources: [], values: [], types: null }, conditions, knowledge);
  const byType = type && planByType(type, others, knowledge);
  const [driver] = others
    .filter((condition) => hasFewRanges(condition, type))
    .filter((condition) => sourcesOf(condition, knowledge.indexes).length > 0)
    .sort((one, other) => compareRarity(one, other, knowledge.statistics));
  if (!driver) return byType ?? inOrder;
  if (isCheaperToCheck(conditions, driver, knowledge.statistics)) return inOrder;
  if (byType && isCheaperToCheck(others, driver, knowledge.statistics)) return byType;
  return driveBy(driver, conditions, knowledge);
}

/** Merges the conditions on the event type into one. Drops conditions that another condition implies, and duplicates. */
function simplify(conditions: readonly FilterCondition[]): FilterCondition[] {
  const possible = conditions.map(withStorableValues);
  const [type, ...moreTypes] = possible.filter(isOnType);
  const types = type?.values.filter((value) => moreTypes.every(({ values }) => values.includes(value)));
  const others = possible.filter((condition) => !isOnType(condition));
  const needed = others.filter((condition, place) => {
    const isImpliedBy = (other: FilterCondition, otherPlace: number): boolean =>
      implies(other, condition) && (otherPlace < place || !implies(condition, other));
    return !others.some(isImpliedBy);
  });
  return [...(type && types ? [{ ...type, values: types }] : []), ...needed];
}

/** Removes duplicates and texts that PostgreSQL cannot store, which match nothing. */
function withStorableValues(condition: FilterCondition): FilterCondition {
  return { ...condition, values: [...new Set(condition.values)].filter(isStorableText) };
}

/**
 * Whether every event that meets the first condition also meets the second. For example, the filter's channel is one of the channels that
 * the reader may see.
 */
function implies(one: FilterCondition, other: FilterCondition): boolean {
  const columns = new Set(other.columns.map(({ name }) => name));
  return (
    one.columns.every(({ name }) => columns.has(name)) &&
    one.values.every((value) => other.values.includes(value))
  );
}

/** Plans to read the rows of each type. Returns undefined if no index serves the types, or if reading all rows by id costs less. */
function planByType(
  type: FilterCondition,
  rest: readonly FilterCondition[],
  knowledge: Knowledge,
): ScanPlan | undefined {
  const { values: types } = type;
  const index = findIndex('event_type', types, knowledge.indexes);
  if (!index || types.length > maxRanges) return undefined;
  // A statement that checks rows reads a full chunk of each type, but a scan by id reads only 1 / share rows per row of these types.
  const share = estimateShare(knowledge.statistics, type) ?? 0;
  if (rest.length > 0 && types.length * share > 1) return undefined;
  return planOf({ sources: [{ index, types: undefined }], values: [], types }, rest, knowledge);
}

function driveBy(
  driver: FilterCondition,
  conditions: readonly FilterCondition[],
  knowledge: Knowledge,
): ScanPlan {
  const sources = sourcesOf(driver, knowledge.indexes);
  const rest = conditions.filter((condition) => condition !== driver);
  const { values } = driver;
  // The hash index on `event_id` holds no event types, so the statement checks them row by row.
  if (sources.some(({ index }) => index.method === 'hash'))
    return planOf({ sources, values, types: null }, rest, knowledge);
  const types = conditions.find(isOnType)?.values ?? null;
  return planOf({ sources, values, types }, rest.filter((condition) => !isOnType(condition)), knowledge); // prettier-ignore
}

function planOf(
  scan: Pick<ScanPlan, 'sources' | 'values' | 'types'>,
  rest: readonly FilterCondition[],
  { statistics }: Knowledge,
): ScanPlan {
  const restShare = rest.reduce(
    (share, condition) => share * (estimateShare(statistics, condition) ?? usualShare),
    1,
  );
  return { ...scan, ranges: chooseSearch(scan), rest, restShare };
}

function chooseSearch({
  sources,
  values,
  types,
}: Pick<ScanPlan, 'sources' | 'values' | 'types'>): RangeSearch {
  const [source] = sources;
  if (!source || source.index.method === 'hash') return 'one';
  const ranges = Math.max(values.length, 1) * (types?.length ?? Infinity);
  if (ranges === 1 && sources.length === 1) return 'one';
  // A source with few types has few ranges.
  return ranges <= maxRanges || sources.every((one) => one.types) ? 'each' : 'skipped';
}

/**
 * Whether a statement can look up the values of a condition. Without types, it skips through the types that each value has. It does the same
 * for a single value with many types.
 */
function hasFewRanges({ values }: FilterCondition, type: FilterCondition | undefined): boolean {
  return values.length === 1 || values.length * (type?.values.length ?? 1) <= maxRanges;
}

/** Whether enough rows match for checking them one by one to cost less than looking up each value of the driver. */
function isCheaperToCheck(
  conditions: readonly FilterCondition[],
  driver: FilterCondition,
  statistics: TableStatistics,
): boolean {
  // Looking up a single value is always cheap, even when the value has become rare.
  if (driver.values.length === 1) return false;
  const shares = conditions.map((condition) => estimateShare(statistics, condition) ?? 0);
  return shares.reduce((product, factor) => product * factor, 1) >= minShareInOrder;
}

/** Returns the indexes that together find all rows for a condition; none if one of these indexes is missing. */
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
      // A partial index does not cover the value that nearly every row has.
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
  return Math.max(...columns.map(({ name }) => usualPlaces[name]));
}

function isOnType({ columns }: FilterCondition): boolean {
  return columns.every(({ name }) => name === 'event_type');
}
