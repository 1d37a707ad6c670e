import { eventTypeRows, type EventTypeRow } from './event-types.js';
import type { Condition } from './subscription.js';

/** The row of a type and version; of the newest version without one. */
export function findEventType(type: string, version?: string): EventTypeRow | undefined {
  return eventTypeRows.findLast(
    (row) => row.type === type && (version === undefined || row.version === version),
  );
}

/**
 * What is wrong with a condition of this type, null when nothing is. Keys that the type does not know are faults
 * too: a misspelt optional key would otherwise subscribe to more than was meant.
 */
export function findConditionFault(
  row: EventTypeRow,
  condition: Readonly<Record<string, unknown>>,
): string | null {
  const oneOf = row.conditionExactlyOneOf ?? [];
  const known = [...row.condition, ...(row.conditionOptional ?? []), ...oneOf];
  for (const key of Object.keys(condition)) {
    if (!known.includes(key))
      return `condition has the unknown key ${key}; ${row.type} knows: ${known.join(', ')}`;
    if (typeof condition[key] !== 'string' || condition[key] === '') return `condition.${key} must be text`;
  }
  const missing = row.condition.find((key) => !(key in condition));
  if (missing !== undefined) return `condition.${missing} is missing`;
  if (oneOf.length > 0 && oneOf.filter((key) => key in condition).length !== 1) {
    return `condition must have exactly one of: ${oneOf.join(', ')}`;
  }
  return null;
}

/** A condition of this type about one channel: every key that it needs, the same person in all roles. */
export function createCondition(row: EventTypeRow | undefined, broadcasterId: string): Condition {
  const oneOf = row?.conditionExactlyOneOf?.at(-1);
  const keys = [...(row?.condition ?? ['broadcaster_user_id']), ...(oneOf === undefined ? [] : [oneOf])];
  return Object.fromEntries(keys.map((key) => [key, broadcasterId]));
}

/** Types that need somebody's consent cost nothing; the others cost one point (docs/platform-facts.md §4.6). */
export function costOf(row: EventTypeRow | undefined): number {
  return row?.scopes.length === 0 ? 1 : 0;
}
