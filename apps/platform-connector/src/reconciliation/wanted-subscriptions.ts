import { type Condition, type EventType } from '@stream-events/platforms';
import { conditionFor, isOfApplication, type ConditionValues } from '../event-types/event-type-rules.js';
import { subscriptionKey } from '../subscriptions/own-subscription.js';

/** A subscription that should be. */
export interface WantedSubscription {
  key: string;
  type: string;
  version: string;
  condition: Condition;
  /** What it will count of the platform's limit until the platform says otherwise. */
  expectedCost: number;
}

/**
 * Every streamer × every type, in the order in which room under the platform's limit is given: what the whole application needs
 * once, then streamer by streamer, those monitored longest first; of each the types in the order given.
 */
export function wantedSubscriptions(
  streamerIds: readonly string[],
  types: readonly EventType[],
  values: ConditionValues,
): WantedSubscription[] {
  const toWanted = (type: EventType, streamerId: string): WantedSubscription => {
    const wanted = {
      type: type.type,
      version: type.version,
      condition: conditionFor(type, streamerId, values),
    };
    // A type that needs a user's consent costs nothing; any other costs 1 unless the user has consented to anything.
    return { ...wanted, key: subscriptionKey(wanted), expectedCost: type.scopes.length > 0 ? 0 : 1 };
  };
  const once = types.filter(isOfApplication);
  const perStreamer = types.filter((type) => !isOfApplication(type));
  return [
    ...once.map((type) => toWanted(type, '')),
    ...[...new Set(streamerIds)].flatMap((id) => perStreamer.map((type) => toWanted(type, id))),
  ];
}
