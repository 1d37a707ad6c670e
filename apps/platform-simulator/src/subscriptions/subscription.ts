import type { Condition, EventPayload } from '../world/payloads/scene.js';

/** A subscription as the platform shows it, in replies and in messages (docs/platform-facts.md §4.5). */
export interface SubscriptionView {
  readonly id: string;
  status: string;
  readonly type: string;
  readonly version: string;
  readonly cost: number;
  readonly condition: Condition;
  readonly transport: { readonly method: 'webhook'; readonly callback: string };
  readonly created_at: string;
}

/** A subscription and what it must not show. */
export interface Subscription {
  readonly view: SubscriptionView;
  readonly secret: string;
  /** The application that made it. */
  readonly clientId: string;
  /** Grows with every subscription that is made. */
  readonly sequence: number;
  /** Notifications in a row that were given up. */
  failures: number;
}

/** Why the platform ends a subscription (docs/platform-facts.md §1.4). */
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

/** Whether a subscription works or may still begin to; the others are kept to be looked at, and cost nothing. */
export function isLiving({ status }: Pick<SubscriptionView, 'status'>): boolean {
  return status === 'enabled' || status === 'webhook_callback_verification_pending';
}

/** The ids of the users that a condition names, each once. */
export function usersIn(condition: Condition): string[] {
  return [
    ...new Set(Object.entries(condition).flatMap(([key, id]) => (key.endsWith('user_id') ? [id] : []))),
  ];
}

/** The ids of the channels that an event is about. */
export function channelsIn(event: EventPayload): string[] {
  const { broadcaster_user_id, broadcaster_id, to_broadcaster_user_id, from_broadcaster_user_id } = event;
  const ids = [broadcaster_user_id ?? broadcaster_id, to_broadcaster_user_id, from_broadcaster_user_id];
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** The broadcaster whose channel a condition is about; undefined for types that are not about a channel. */
export function channelOf(condition: Condition): string | undefined {
  return (
    condition.broadcaster_user_id ?? condition.to_broadcaster_user_id ?? condition.from_broadcaster_user_id
  );
}

/**
 * Whether a subscription with this condition gets this event. Keys that say who listens (moderator, chat user)
 * exclude nothing.
 */
export function matchesCondition(condition: Condition, event: EventPayload): boolean {
  return Object.entries(condition).every(([key, value]) => {
    switch (key) {
      case 'broadcaster_user_id':
        return (event[key] ?? event.broadcaster_id) === value; // charity campaigns name it otherwise
      case 'from_broadcaster_user_id':
      case 'to_broadcaster_user_id':
        return event[key] === value;
      case 'reward_id':
        return isObject(event.reward) && event.reward.id === value;
      default:
        return true;
    }
  });
}

/** One text for equal conditions, whatever the order of their keys. */
export function conditionKey(condition: Condition): string {
  return JSON.stringify(Object.entries(condition).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
