import type { EventType } from '@stream-events/platforms';
import type { Condition } from '../world/payloads/scene.js';

/**
 * Versions that the platform had and withdrew (docs/platform-facts.md §5.3): creating one is 410, where others that it
 * does not have are 400.
 */
const withdrawnVersions: Readonly<Record<string, readonly string[]>> = {
  'channel.follow': ['1'],
  'channel.update': ['1'],
  'channel.hype_train.begin': ['1'],
  'channel.hype_train.progress': ['1'],
  'channel.hype_train.end': ['1'],
};

export function isWithdrawn(type: string, version: string): boolean {
  return withdrawnVersions[type]?.includes(version) ?? false;
}

/**
 * What is wrong with a condition of this type, null when nothing is. Keys that the type does not know are faults
 * too: a misspelt optional key would otherwise subscribe to more than was meant.
 */
export function findConditionFault(
  row: EventType,
  condition: Readonly<Record<string, unknown>>,
): string | null {
  const oneOf = row.condition_exactly_one_of;
  const known = [...row.condition, ...row.condition_optional, ...oneOf];
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
export function createCondition(row: EventType | undefined, broadcasterId: string): Condition {
  const oneOf = row?.condition_exactly_one_of.at(-1);
  const keys = [...(row?.condition ?? ['broadcaster_user_id']), ...(oneOf === undefined ? [] : [oneOf])];
  return Object.fromEntries(keys.map((key) => [key, broadcasterId]));
}

/** Types that need somebody's consent cost nothing; the others cost one point (docs/platform-facts.md §4.6). */
export function costOf(row: EventType | undefined): number {
  return row?.scopes.length === 0 ? 1 : 0;
}
