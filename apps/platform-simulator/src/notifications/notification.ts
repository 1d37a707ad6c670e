import type { SubscriptionView } from '../subscriptions/subscription.js';

/** Composes the raw JSON text of a notification; `eventMember` is a member such as `"event":{…}`. */
export function composeBody(subscription: SubscriptionView, eventMember: string): string {
  return `{"subscription":${JSON.stringify(subscription)},${eventMember}}`;
}

/** The member of most types: one event as JSON text, which is sent unchanged. */
export function eventMember(eventText: string): string {
  return `"event":${eventText}`;
}

/** The member of batched types. */
export function eventsMember(events: readonly unknown[]): string {
  return `"events":${JSON.stringify(events)}`;
}

/** Whether notifications of this type always carry a list of events. */
export function isBatched(type: string): boolean {
  return type === 'drop.entitlement.grant';
}
