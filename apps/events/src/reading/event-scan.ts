import { foldCase, type EventFilters } from '@stream-events/contracts';

/** A condition of a query: `column = value`. */
export interface Condition {
  column: string;
  value: string;
}

/**
 * How a filtered list is read: `driving` conditions are those that one index answers in order of id; `rest` are checked
 * row by row, for which a page has a budget.
 */
export interface EventScan {
  driving: Condition[];
  rest: Condition[];
}

// Most selective first. A pair with event_type has an index of its own.
const drivers = [
  'event_id',
  'reward_id',
  'raid_from',
  'raid_to',
  'user_id',
  'user_name',
  'broadcaster_user_id',
  'event_type',
  'event_source',
  'origin',
];
const pairedWithType = ['user_id', 'user_name', 'broadcaster_user_id'];

/** Chooses the index that drives a filtered list. */
export function planEventScan(filters: EventFilters): EventScan {
  const conditions = toConditions(filters);
  const driver = drivers
    .map((column) => conditions.find((condition) => condition.column === column))
    .find((found) => found !== undefined);
  if (!driver) return { driving: [], rest: [] };
  const type = conditions.find((condition) => condition.column === 'event_type');
  const driving = type && pairedWithType.includes(driver.column) ? [type, driver] : [driver];
  return { driving, rest: conditions.filter((condition) => !driving.includes(condition)) };
}

function toConditions(filters: EventFilters): Condition[] {
  const values: Record<string, string | undefined> = {
    event_id: filters.eventId,
    event_type: filters.eventType,
    event_source: filters.eventSource,
    origin: filters.origin,
    broadcaster_user_id: filters.broadcasterUserId,
    user_id: fold(filters.userId),
    user_name: fold(filters.userName),
    reward_id: fold(filters.rewardId),
    raid_from: fold(filters.raidFrom),
    raid_to: fold(filters.raidTo),
  };
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined || value === '' ? [] : [{ column, value }],
  );
}

function fold(value: string | undefined): string | undefined {
  return value === undefined ? undefined : foldCase(value);
}
