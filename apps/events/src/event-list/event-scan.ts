import { foldCase, textFilters, type EventFilters } from '@stream-events/contracts';

/** A condition of a query: `column = value`. */
export interface Condition {
  column: string;
  value: string;
  /** Whether there is an index on (event_type, column, id). */
  hasTypeIndex: boolean;
}

/**
 * How a filtered list is read. One index returns the rows that match the `driving` conditions, in order of id. The `rest` of the
 * conditions is checked row by row, within the page's row budget.
 */
export interface EventScan {
  driving: Condition[];
  rest: Condition[];
}

const drivers = [...textFilters].sort((one, other) => one.rank - other.rank);

/** Chooses the index that drives a filtered list: the most selective one. A filter with event_type may have its own index. */
export function planEventScan(filters: EventFilters): EventScan {
  const conditions = toConditions(filters);
  const [driver] = conditions;
  if (!driver) return { driving: [], rest: [] };
  const type = conditions.find((condition) => condition.column === 'event_type');
  const driving = type && driver.hasTypeIndex ? [type, driver] : [driver];
  return { driving, rest: conditions.filter((condition) => !driving.includes(condition)) };
}

/** The conditions of the given filters, most selective first. */
function toConditions(filters: EventFilters): Condition[] {
  return drivers.flatMap(({ name, field, match, hasTypeIndex = false }) => {
    const value = filters[field];
    if (!value) return [];
    return [{ column: name, value: match === 'folded' ? foldCase(value) : value, hasTypeIndex }];
  });
}
