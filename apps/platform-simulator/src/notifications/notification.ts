import type { SubscriptionView } from '../subscriptions/subscription.js';

/** The raw JSON text of a notification; `eventsText` is a member like `"event":{…}`. */
export function composeBody(subscription: SubscriptionView, eventMember: string): string {
  return `{"subscription":${JSON.stringify(subscription)},${eventMember}}`;
}

/** The member of most types: one event, given as JSON text that goes out as it is. */
export function eventMember(eventText: string): string {
  return `"event":${eventText}`;
}

/** The member of batched types. */
export function eventsMember(events: readonly unknown[]): string {
  return `"events":${JSON.stringify(events)}`;
}

/** Whether notifications of this type carry a list of events, even if it is only one. */
export function isBatched(type: string): boolean {
  return type === 'drop.entitlement.grant';
}
