import {
  callbackOf,
  fingerprintOf,
  subscriptionKey,
  type PlatformSubscription,
  type SubscriptionTransport,
} from '@stream-events/platforms';
import type { OwnSubscription } from '../src/subscriptions/own-subscription.js';

export const publicUrl = 'https://events.example';

export const secret = 'signs-what-comes';

export const callback = callbackOf(publicUrl, fingerprintOf(secret));

export function webhook(callback: string): SubscriptionTransport {
  return { method: 'webhook', callback };
}

/** Returns one of the service's subscriptions for a streamer. Tests pass only the fields that they are about. */
export function newOwn(streamerId: string, overrides: Partial<OwnSubscription>): OwnSubscription {
  const subscription = {
    type: 'stream.online',
    version: '1',
    condition: { broadcaster_user_id: streamerId },
    ...overrides,
  };
  return {
    id: `own-${subscription.type}-${streamerId}`,
    key: subscriptionKey(subscription),
    subscriptionId: null,
    transport: null,
    status: 'waiting',
    reason: null,
    cost: null,
    attempts: 0,
    retryAt: null,
    statusSince: 0,
    ...subscription,
  };
}

/** Returns the same subscription as the platform lists it. */
export function newListed(
  { type, version, condition }: Pick<OwnSubscription, 'type' | 'version' | 'condition'>,
  overrides: Partial<PlatformSubscription> = {},
): PlatformSubscription {
  return {
    id: 'listed',
    status: 'enabled',
    type,
    version,
    condition,
    cost: 1,
    transport: webhook(callback),
    ...overrides,
  };
}
