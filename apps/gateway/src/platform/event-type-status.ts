import type { EventTypeMessage } from '@stream-events/contracts';

/** How the subscriptions of an event type stand, in one word; the first that applies. */
export const eventTypeStatuses = {
  unsupported: 'it cannot be made active; `unsupported` says why',
  inactive: 'nobody is subscribed to it',
  enabled: 'all of its subscriptions are enabled',
  partly: 'some of them are enabled, others are not, or not yet',
  failed: 'none is enabled, and the platform has refused or revoked some',
  limited: 'none is enabled, and some have no room under the platform’s limit',
  waiting: 'none is enabled yet: there are no streamers, or the platform has yet to create or verify them',
} as const;

export type EventTypeStatus = keyof typeof eventTypeStatuses;

// Any other status but these and `enabled` is a failure; the platform may add some without notice.
const waitingStatuses = ['waiting', 'webhook_callback_verification_pending'];
const limitedStatus = 'limit_reached';

/** The word for an event type, from how many of its subscriptions are in each status. */
export function eventTypeStatus(
  eventType: Pick<EventTypeMessage, 'active' | 'subscriptions' | 'unsupported'>,
): EventTypeStatus {
  if (eventType.unsupported !== null) return 'unsupported';
  if (!eventType.active) return 'inactive';
  const statuses = Object.entries(eventType.subscriptions)
    .filter(([, count]) => count > 0)
    .map(([status]) => status);
  if (statuses.includes('enabled')) return statuses.length === 1 ? 'enabled' : 'partly';
  if (statuses.some((status) => status !== limitedStatus && !waitingStatuses.includes(status)))
    return 'failed';
  return statuses.includes(limitedStatus) ? 'limited' : 'waiting';
}
