import type { Owner } from '../oauth/tokens.js';
import type { Transport, TransportView } from '../transports/transport.js';
import type { Condition, EventPayload } from '../world/payloads/scene.js';

/** A subscription in responses and messages of the platform (FACTS.md §4.5). */
export interface SubscriptionView {
  readonly id: string;
  status: string;
  readonly type: string;
  readonly version: string;
  readonly cost: number;
  readonly condition: Condition;
  readonly transport: TransportView;
  readonly created_at: string;
}

/** A subscription with data that the platform does not show. It belongs to the owner of the access token that created it. */
export interface Subscription extends Owner {
  readonly view: SubscriptionView;
  readonly transport: Transport;
  /** Increases with every new subscription. */
  readonly sequence: number;
}

/** Reasons why the platform revokes a subscription (FACTS.md §1.4). */
export const revocationStatuses = [
  'user_removed',
  'authorization_revoked',
  'notification_failures_exceeded',
  'version_removed',
  'moderator_removed',
  'chat_user_banned',
  'beta_maintenance',
] as const;
export type RevocationStatus = (typeof revocationStatuses)[number];

/** Enabled or pending. All other subscriptions have ended. They cost nothing, but can still be in the list. */
export function isLiving({ status }: Pick<SubscriptionView, 'status'>): boolean {
  return status === 'enabled' || status === 'webhook_callback_verification_pending';
}

/** Equal owners have equal keys. */
export function keyOfOwner({ clientId, userId }: Owner): string {
  return JSON.stringify([clientId, userId]);
}

/** The distinct users in a condition. */
export function usersIn(condition: Condition): string[] {
  return [
    ...new Set(Object.entries(condition).flatMap(([key, id]) => (key.endsWith('user_id') ? [id] : []))),
  ];
}

/** The channels that an event concerns. */
export function channelsIn(event: EventPayload): string[] {
  const { broadcaster_user_id, broadcaster_id, to_broadcaster_user_id, from_broadcaster_user_id } = event;
  const ids = [broadcaster_user_id ?? broadcaster_id, to_broadcaster_user_id, from_broadcaster_user_id];
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** The channel in a condition. Undefined for types that concern no channel. */
export function channelOf(condition: Condition): string | undefined {
  return (
    condition.broadcaster_user_id ?? condition.to_broadcaster_user_id ?? condition.from_broadcaster_user_id
  );
}

/**
 * Whether a subscription with this condition gets the event. Keys such as `moderator_user_id` only name the listener, so they exclude no
 * events.
 */
export function matchesCondition(condition: Condition, event: EventPayload): boolean {
  return Object.entries(condition).every(([key, value]) => {
    switch (key) {
      case 'broadcaster_user_id':
        return (event[key] ?? event.broadcaster_id) === value; // charity campaigns have `broadcaster_id`
      case 'from_broadcaster_user_id':
      case 'to_broadcaster_user_id':
        return event[key] === value;
      case 'client_id': // conduit events lack it; EnabledIndex checks their owner
        return event[key] === undefined || event[key] === value;
      case 'conduit_id':
        return event[key] === value;
      case 'user_id': // on a channel's events, this is the listener
        return channelOf(condition) !== undefined || [event.user_id, event.to_user_id].includes(value);
      case 'reward_id':
        return isObject(event.reward) && event.reward.id === value;
      default:
        return true;
    }
  });
}

/** Equal conditions have equal keys, in any order of their members. */
export function conditionKey(condition: Condition): string {
  return JSON.stringify(Object.entries(condition).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
