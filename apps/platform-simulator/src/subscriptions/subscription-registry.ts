import type { EventPayload } from '../world/event-payloads.js';
import type { Audience } from '../world/world.js';
import {
  channelOf,
  conditionKey,
  matchesCondition,
  type Subscription,
  type SubscriptionView,
} from './subscription.js';

type ByChannel = Map<string, Subscription[]>;

/** All subscriptions, in memory, with an index of the enabled ones by type and channel. */
export class SubscriptionRegistry {
  private readonly subscriptions = new Map<string, Subscription>();
  // Rebuilt when asked for after a change: changes are rare, questions come with every event.
  private index: { enabled: Map<string, ByChannel>; audience: Audience } | null = null;

  list(): SubscriptionView[] {
    return [...this.subscriptions.values()].map(({ view }) => view);
  }

  find(id: string): Subscription | undefined {
    return this.subscriptions.get(id);
  }

  /** Those with this type, version and condition. */
  findAlike({
    type,
    version,
    condition,
  }: Pick<SubscriptionView, 'type' | 'version' | 'condition'>): Subscription[] {
    const key = conditionKey(condition);
    return [...this.subscriptions.values()].filter(
      ({ view }) => view.type === type && view.version === version && conditionKey(view.condition) === key,
    );
  }

  add(subscription: Subscription): void {
    this.subscriptions.set(subscription.view.id, subscription);
    this.index = null;
  }

  remove(id: string): boolean {
    this.index = null;
    return this.subscriptions.delete(id);
  }

  setStatus(subscription: Subscription, status: string): void {
    subscription.view.status = status;
    this.index = null;
  }

  totalCost(): number {
    return this.list().reduce((sum, view) => sum + view.cost, 0);
  }

  /** The first enabled one of a type, about this channel if one is named. */
  findEnabled(type: string, broadcasterId: string | undefined): Subscription | undefined {
    const byChannel = this.enabled().get(type);
    if (broadcasterId !== undefined) return byChannel?.get(broadcasterId)?.[0];
    return byChannel?.values().next().value?.[0];
  }

  /** The enabled ones that get this event. */
  findMatching(type: string, event: EventPayload): Subscription[] {
    const byChannel = this.enabled().get(type);
    const { broadcaster_user_id, to_broadcaster_user_id, from_broadcaster_user_id } = event;
    const channels = new Set([broadcaster_user_id, to_broadcaster_user_id, from_broadcaster_user_id]);
    return [...channels]
      .flatMap((channel) => (typeof channel === 'string' ? (byChannel?.get(channel) ?? []) : []))
      .filter(({ view }) => matchesCondition(view.condition, event));
  }

  /** Which channels somebody has subscribed to, by type; in an order that does not depend on who came first. */
  audience(): Audience {
    return this.buildIndex().audience;
  }

  private enabled(): Map<string, ByChannel> {
    return this.buildIndex().enabled;
  }

  private buildIndex(): { enabled: Map<string, ByChannel>; audience: Audience } {
    if (this.index) return this.index;
    const enabled = new Map<string, ByChannel>();
    for (const subscription of this.subscriptions.values()) {
      const { status, type, condition } = subscription.view;
      if (status !== 'enabled') continue;
      const byChannel = enabled.get(type) ?? new Map<string, Subscription[]>();
      const channel = channelOf(condition) ?? '';
      enabled.set(type, byChannel.set(channel, [...(byChannel.get(channel) ?? []), subscription]));
    }
    const audience = new Map([...enabled].map(([type, byChannel]) => [type, [...byChannel.keys()].sort()]));
    this.index = { enabled, audience };
    return this.index;
  }
}
