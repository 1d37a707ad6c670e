import type { EventType } from '@stream-events/platforms';
import type { Condition } from '../world/payloads/scene.js';

/**
 * Versions that the platform has withdrawn (docs/platform-facts.md §5.3). A subscription to a withdrawn version gets 410; a
 * subscription to any other unknown version gets 400.
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
 * Returns the fault in a condition of this type; null if the condition is valid. Unknown keys are faults, because a subscription with a
 * misspelled optional key would otherwise match more events than intended.
 */
export function findConditionFault(
  row: EventType,
  condition: Readonly<Record<string, unknown>>,
): string | null {
  const oneOf = row.condition_exactly_one_of;
  const known = [...row.condition, ...row.condition_optional, ...oneOf];
  for (const key of Object.keys(condition)) {
    if (!known.includes(key))
      return `condition has the unknown key ${key}; the keys of ${row.type} are ${known.join(', ')}`;
    if (typeof condition[key] !== 'string' || condition[key] === '')
      return `condition.${key} must be a string that is not empty`;
  }
  const missing = row.condition.find((key) => !(key in condition));
  if (missing !== undefined) return `condition.${missing} is missing`;
  if (oneOf.length > 0 && oneOf.filter((key) => key in condition).length !== 1) {
    return `condition must have exactly one of: ${oneOf.join(', ')}`;
  }
  return null;
}

/** Creates a condition of this type for one channel, with the same user in all roles. */
export function createCondition(row: EventType | undefined, broadcasterId: string): Condition {
  const oneOf = row?.condition_exactly_one_of.at(-1);
  const keys = [...(row?.condition ?? ['broadcaster_user_id']), ...(oneOf === undefined ? [] : [oneOf])];
  return Object.fromEntries(keys.map((key) => [key, broadcasterId]));
}

/**
 * The cost of a subscription. Types that require a user's consent cost nothing, and neither do subscriptions whose user has
 * authorized the application. All other subscriptions cost one point (docs/platform-facts.md §4.6).
 */
export function costOf(row: EventType | undefined, hasAuthorized = false): number {
  return row?.scopes.length === 0 && !hasAuthorized ? 1 : 0;
}
