import type { SubscriptionView } from '../subscriptions/subscription.js';

/** Returns the raw JSON text of a notification. @param eventMember a JSON member, such as `"event":{…}` */
export function composeBody(subscription: SubscriptionView, eventMember: string): string {
  return `{"subscription":${JSON.stringify(subscription)},${eventMember}}`;
}

/** The member for most types: one event. Keeps the text of the event unchanged. */
export function eventMember(eventText: string): string {
  return `"event":${eventText}`;
}

/** The member for batched types: a list of events. */
export function eventsMember(events: readonly unknown[]): string {
  return `"events":${JSON.stringify(events)}`;
}

/** Whether notifications of this type carry a list of events. */
export function isBatched(type: string): boolean {
  return type === 'drop.entitlement.grant';
}
