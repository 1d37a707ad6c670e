import type { Audience, WorldEvent } from '../world/world.js';
import { MultiMap } from './multi-map.js';
import { channelOf, channelsIn, matchesCondition, type Subscription } from './subscription.js';

interface ByChannel {
  subscriptions: MultiMap<Subscription>;
  /** Sorted on first use. Null after a channel was added or removed. */
  sortedChannels: string[] | null;
}

// Key of subscriptions that concern no channel.
const noChannel = '';

/** Indexes enabled subscriptions by type and channel. Finds the recipients of an event, and the types and channels that have recipients. */
export class EnabledIndex implements Audience {
  private readonly types = new Map<string, ByChannel>();

  add(subscription: Subscription): void {
    const { type, condition } = subscription.view;
    const found = this.types.get(type) ?? { subscriptions: new MultiMap(), sortedChannels: null };
    this.types.set(type, found);
    if (found.subscriptions.add(channelOf(condition) ?? noChannel, subscription)) found.sortedChannels = null;
  }

  delete(subscription: Subscription): void {
    const { type, condition } = subscription.view;
    const found = this.types.get(type);
    if (found?.subscriptions.delete(channelOf(condition) ?? noChannel, subscription))
      found.sortedChannels = null;
  }

  /**
   * Finds the subscription to a type and channel that was enabled first. Without a channel, uses the first channel that has subscriptions
   * to the type. For raids, prefers a subscription to incoming raids, because applications subscribe to both directions in any order.
   */
  findFirst(type: string, broadcasterId: string | undefined): Subscription | undefined {
    const subscriptions = this.types.get(type)?.subscriptions;
    const found = broadcasterId === undefined ? subscriptions?.first() : subscriptions?.get(broadcasterId);
    const all = [...(found ?? [])];
    return all.find(({ view }) => view.condition.from_broadcaster_user_id === undefined) ?? all[0];
  }

  findMatching({ type, event, clientId: owner }: WorldEvent): Subscription[] {
    const subscriptions = this.types.get(type)?.subscriptions;
    if (!subscriptions) return [];
    return [...channelsIn(event), noChannel]
      .flatMap((channel) => [...subscriptions.get(channel)])
      .filter(({ clientId }) => owner === undefined || clientId === owner)
      .filter(({ view }) => matchesCondition(view.condition, event));
  }

  has(type: string): boolean {
    return this.types.get(type)?.subscriptions.first() !== undefined;
  }

  wants(type: string, broadcasterId: string): boolean {
    return this.types.get(type)?.subscriptions.has(broadcasterId) ?? false;
  }

  channelsFor(type: string): readonly string[] {
    const found = this.types.get(type);
    if (!found) return [];
    found.sortedChannels ??= [...found.subscriptions.keys()].sort();
    return found.sortedChannels;
  }
}
