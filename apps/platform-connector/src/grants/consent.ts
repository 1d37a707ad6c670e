import type { Condition, RequiredGrant } from '@stream-events/platforms';

/** The scopes that a user has granted; `unlisted` before the first listing, `unknown` while the platform cannot list them. */
export type KnownScopes = ReadonlySet<string> | 'unlisted' | 'unknown';

/** Returns the known grants of a user. */
export type GrantsOf = (userId: string) => KnownScopes;

/** Whether users have given the consent that a subscription needs. */
export type Consent =
  | { kind: 'given' }
  /** The grants of a user will be listed soon. */
  | { kind: 'unlisted' }
  /** Only an attempt to subscribe shows whether the consent exists. One attempt decides for all subscriptions for a channel. */
  | { kind: 'unknown'; channelId: string }
  | { kind: 'missing'; remedy: string };

/** Compares the grants that a subscription needs with the known grants. */
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

/** Whether two lists contain the same scopes. */
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
