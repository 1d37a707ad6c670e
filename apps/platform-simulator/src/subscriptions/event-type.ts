import type { EventType } from '@stream-events/platforms';
import type { Condition } from '../world/payloads/scene.js';

/** Withdrawn versions get a 410 response, all other unknown versions a 400 (FACTS.md §5.2). */
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
 * Returns what is wrong with the condition, or null if it is valid. Rejects unknown keys: a misspelled optional key would make the
 * subscription match too many events.
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
    if (typeof condition[key] !== 'string') return `condition.${key} must be a string`;
  }
  const missing = row.condition.find((key) => !(key in condition));
  if (missing !== undefined) return `condition.${missing} is missing`;
  if (oneOf.length > 0 && oneOf.filter((key) => key in condition).length !== 1) {
    return `condition must have exactly one of: ${oneOf.join(', ')}`;
  }
  return null;
}

/** Creates a condition for one channel, with the same user in every role. */
export function createCondition(row: EventType | undefined, broadcasterId: string): Condition {
  const oneOf = row?.condition_exactly_one_of.at(-1);
  const keys = [...(row?.condition ?? ['broadcaster_user_id']), ...(oneOf === undefined ? [] : [oneOf])];
  return Object.fromEntries(keys.map((key) => [key, broadcasterId]));
}

/**
 * A subscription costs nothing if its type requires a user's consent, or if its user has authorized the application. Any other subscription
 * costs one point (FACTS.md §4.6).
 */
export function costOf(row: EventType | undefined, hasAuthorized = false): number {
  return row?.scopes.length === 0 && !hasAuthorized ? 1 : 0;
}

/** The user must have granted at least one of these scopes to the application. */
export interface RequiredGrant {
  readonly userId: string;
  readonly oneOf: readonly string[];
}

/**
 * Lists the grants that a subscription needs (FACTS.md §5). The user who reads must grant one scope from each list in
 * `row.scopes`. With an app access token, chat also needs `user:bot` from that user and `channel:bot` from the broadcaster.
 */
export function listRequiredGrants(
  row: EventType,
  condition: Condition,
  tokenKind: 'app' | 'user',
): RequiredGrant[] {
  const broadcasterId = condition.broadcaster_user_id;
  const readerId = condition.moderator_user_id ?? condition.user_id ?? broadcasterId;
  const forReading = row.scopes.map((oneOf) => ({ userId: readerId, oneOf }));
  const botScopes = tokenKind === 'app' ? row.app_token_extra_scopes : [];
  const forBots = botScopes.map((scope) => {
    return { userId: scope === 'channel:bot' ? broadcasterId : readerId, oneOf: [scope] };
  });
  return [...forReading, ...forBots].flatMap(({ userId, oneOf }) =>
    userId === undefined ? [] : [{ userId, oneOf }],
  );
}
