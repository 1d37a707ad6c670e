import type { EventTypeMessage } from '@stream-events/contracts';

/** States of an event type, in order of precedence: the first that applies wins. */
export const eventTypeStatuses = {
  unsupported: 'the event type cannot be activated; `unsupported` gives the reason',
  inactive: 'the event type is not active, so no streamer is subscribed',
  enabled: 'all subscriptions are enabled',
  partly: 'some subscriptions are enabled, but not all of them',
  failed: 'no subscription is enabled, and the platform rejected or revoked some',
  limited: 'no subscription is enabled, and some exceed the platform’s limit',
  not_granted:
    'no subscription is enabled, and some streamers have not granted the scopes; connect their channels',
  waiting:
    'no subscription is enabled yet: there are no streamers, or the platform has not created or verified the subscriptions yet',
} as const;

export type EventTypeStatus = keyof typeof eventTypeStatuses;

// Subscription statuses that are neither `enabled` nor a failure. Any other status counts as a failure, because the platform can add
// statuses without notice.
const waitingStatuses = ['waiting', 'webhook_callback_verification_pending'];
const limitedStatus = 'limit_reached';
const notGrantedStatus = 'not_granted';
const failureFree = [...waitingStatuses, limitedStatus, notGrantedStatus];

/** Derives the status of an event type from its subscriptions. */
export function eventTypeStatus(
  eventType: Pick<EventTypeMessage, 'active' | 'subscriptions' | 'unsupported'>,
): EventTypeStatus {
  if (eventType.unsupported !== null) return 'unsupported';
  if (!eventType.active) return 'inactive';
  const statuses = Object.entries(eventType.subscriptions)
    .filter(([, count]) => count > 0)
    .map(([status]) => status);
  if (statuses.includes('enabled')) return statuses.length === 1 ? 'enabled' : 'partly';
  if (statuses.some((status) => !failureFree.includes(status))) return 'failed';
  if (statuses.includes(limitedStatus)) return 'limited';
  return statuses.includes(notGrantedStatus) ? 'not_granted' : 'waiting';
}
