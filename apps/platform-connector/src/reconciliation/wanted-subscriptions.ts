import {
  conditionsFor,
  isOfApplication,
  requiredGrants,
  subscriptionKey,
  type Condition,
  type ConditionValues,
  type EventType,
} from '@stream-events/platforms';
import { consentFor, type Consent, type GrantsOf, type KnownScopes } from '../grants/consent.js';

export interface WantedSubscription {
  key: string;
  type: string;
  version: string;
  condition: Condition;
  /** The cost to assume until the platform reports one. */
  expectedCost: number;
  /** Whether users have given the consent that the subscription needs. */
  consent: Consent;
}

/** What decides which subscriptions are wanted, in addition to the streamers and the active types. */
export interface WantedBy {
  values: ConditionValues;
  grantsOf: GrantsOf;
  /** Whether a streamer should be subscribed to an active type. */
  isChosen: (streamerId: string, type: string) => boolean;
}

/** Returns the users whose consent the types may need. */
export function usersToAsk(
  streamerIds: readonly string[],
  types: readonly EventType[],
  { botId }: ConditionValues,
): string[] {
  if (!types.some(({ scopes }) => scopes.length > 0)) return [];
  return botId === undefined ? [...streamerIds] : [botId, ...streamerIds];
}

/**
 * Returns the subscriptions for all streamers and types, sorted by priority under the platform's limit. Types that the application needs
 * only once come first. Then come the streamers in the given order, each with the types in the given order.
 */
export function wantedSubscriptions(
  streamerIds: readonly string[],
  types: readonly EventType[],
  { values, grantsOf, isChosen }: WantedBy,
): WantedSubscription[] {
  const toWanted = (type: EventType, streamerId: string): WantedSubscription[] =>
    conditionsFor(type, streamerId, values).map((condition) => {
      const wanted = { type: type.type, version: type.version, condition };
      // A type that needs a user's consent is free. Any other type is free if the user has granted any scope, and costs 1 if not.
      const isFree = type.scopes.length > 0 || usersIn(condition).some((id) => hasGranted(grantsOf(id)));
      const expectedCost = isFree ? 0 : 1;
      const consent = consentFor(requiredGrants(type, condition), condition, grantsOf);
      return { ...wanted, key: subscriptionKey(wanted), expectedCost, consent };
    });
  const once = types.filter(isOfApplication);
  const perStreamer = types.filter((type) => !isOfApplication(type));
  return [
    ...once.flatMap((type) => toWanted(type, '')),
    ...[...new Set(streamerIds)].flatMap((id) =>
      perStreamer.flatMap((type) => (isChosen(id, type.type) ? toWanted(type, id) : [])),
    ),
  ];
}

function usersIn(condition: Condition): string[] {
  return Object.entries(condition).flatMap(([key, id]) => (key.endsWith('user_id') ? [id] : []));
}

function hasGranted(scopes: KnownScopes): boolean {
  return typeof scopes !== 'string' && scopes.size > 0;
}
