import type { Condition, RequiredGrant } from '@stream-events/platforms';

/** The scopes that a user has granted. `unlisted`: the platform has not listed them yet. `unknown`: the platform cannot list them now. */
export type KnownScopes = ReadonlySet<string> | 'unlisted' | 'unknown';

export type GrantsOf = (userId: string) => KnownScopes;

/** Whether users have given the consent that a subscription needs. */
export type Consent =
  | { kind: 'given' }
  /** The user's grants are not known yet, but will be listed soon. */
  | { kind: 'unlisted' }
  /** Only an attempt to subscribe can show whether the consent exists. One attempt decides for all of a channel's subscriptions. */
  | { kind: 'unknown'; channelId: string }
  | { kind: 'missing'; remedy: string };

/** Compares the grants that a subscription requires with the known grants. */
export function consentFor(
  required: readonly RequiredGrant[],
  condition: Condition,
  grantsOf: GrantsOf,
): Consent {
  const lacking = required.filter(({ userId, oneOf }) => !isGranted(grantsOf(userId), oneOf));
  if (lacking.length === 0) return { kind: 'given' };
  const certain = lacking.filter(({ userId, isOptional }) => !isOptional && isKnown(grantsOf(userId)));
  if (certain.length > 0) return { kind: 'missing', remedy: describeMissing(certain) };
  if (lacking.some(({ userId }) => grantsOf(userId) === 'unlisted')) return { kind: 'unlisted' };
  return { kind: 'unknown', channelId: condition.broadcaster_user_id ?? condition.user_id ?? '' };
}

/** Compares two lists of scopes, regardless of their order. */
export function areSameScopes(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && new Set([...some, ...others]).size === some.length;
}

function isKnown(scopes: KnownScopes): scopes is ReadonlySet<string> {
  return typeof scopes !== 'string';
}

function isGranted(scopes: KnownScopes, oneOf: readonly string[]): boolean {
  return isKnown(scopes) && oneOf.some((scope) => scopes.has(scope));
}

function describeMissing(missing: readonly RequiredGrant[]): string {
  const users = [...new Set(missing.map(({ userId }) => userId))];
  const parts = users.map((user) => {
    const scopes = missing.flatMap(({ userId, oneOf }) => (userId === user ? (oneOf[0] ?? []) : []));
    return `The user ${user} has not granted ${scopes.join(' and ')}.`;
  });
  return `${parts.join(' ')} Connect or reconnect this user with POST /api/v1/platform/connections.`;
}
