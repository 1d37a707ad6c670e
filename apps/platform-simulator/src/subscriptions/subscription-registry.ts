import { IsOptionalText } from '../http/validation.js';
import type { Owner } from '../oauth/tokens.js';
import type { Audience, WorldEvent } from '../world/world.js';
import {
  channelOf,
  channelsIn,
  conditionKey,
  isLiving,
  keyOfOwner,
  matchesCondition,
  usersIn,
  type Subscription,
  type SubscriptionView,
} from './subscription.js';

/** Maps each key to a set of values. */
export class MultiMap<Value> {
  private readonly sets = new Map<string, Set<Value>>();

  get(key: string): ReadonlySet<Value> {
    return this.sets.get(key) ?? new Set();
  }

  has(key: string): boolean {
    return this.sets.has(key);
  }

  keys(): IterableIterator<string> {
    return this.sets.keys();
  }

  /** The values of the oldest key; undefined if the map is empty. */
  first(): ReadonlySet<Value> | undefined {
    return this.sets.values().next().value;
  }

  /** Returns true if the key is new. */
  add(key: string, value: Value): boolean {
    const set = this.sets.get(key);
    if (set === undefined) this.sets.set(key, new Set([value]));
    else set.add(value);
    return set === undefined;
  }

  /** Removes a value, and the key with its last value. Returns true if the key is gone. */
  delete(key: string, value: Value): boolean {
    const set = this.sets.get(key);
    set?.delete(value);
    return set?.size === 0 && this.sets.delete(key);
  }
}

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

interface Account {
  /** Sorted by sequence, so that deletions between two requests do not shift the pages. */
  ordered: Subscription[];
  totalCost: number;
}

/** At most one filter is allowed. */
export class SubscriptionFilter {
  @IsOptionalText()
  status?: string;

  @IsOptionalText()
  type?: string;

  @IsOptionalText()
  user_id?: string;

  @IsOptionalText()
  subscription_id?: string;

  @IsOptionalText()
  conduit_id?: string;
}

export interface SubscriptionPage {
  views: SubscriptionView[];
  /** Sequence after which the next page starts. Null on the last page. */
  after: number | null;
}

/** All subscriptions, in memory. Indexes keep lookups fast with tens of thousands of subscriptions. */
export class SubscriptionRegistry {
  readonly enabled = new EnabledIndex();
  private readonly byId = new Map<string, Subscription>();
  private readonly alike = new MultiMap<Subscription>();
  private readonly byUser = new MultiMap<Subscription>();
  private readonly accounts = new Map<string, Account>();

  find(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  /** Finds the owner's subscriptions with the same type, version, and condition. */
  findAlike(owner: Owner, view: SubscriptionView): Subscription[] {
    return [...this.alike.get(alikeKey(owner, view))];
  }

  /** In order of creation. */
  list(owner: Owner): readonly Subscription[] {
    return this.account(owner).ordered;
  }

  /** Finds the subscriptions whose condition names this user, for all applications. */
  findAbout(userId: string): Subscription[] {
    return [...this.byUser.get(userId)];
  }

  add(subscription: Subscription): void {
    const { view } = subscription;
    const account = this.account(subscription);
    account.ordered.push(subscription);
    account.totalCost += costNow(view);
    this.byId.set(view.id, subscription);
    this.alike.add(alikeKey(subscription, view), subscription);
    for (const userId of usersIn(view.condition)) this.byUser.add(userId, subscription);
    if (view.status === 'enabled') this.enabled.add(subscription);
  }

  remove(subscription: Subscription): void {
    const { view, sequence } = subscription;
    const account = this.account(subscription);
    account.ordered.splice(firstAfter(account.ordered, sequence - 1), 1);
    account.totalCost -= costNow(view);
    this.byId.delete(view.id);
    this.alike.delete(alikeKey(subscription, view), subscription);
    for (const userId of usersIn(view.condition)) this.byUser.delete(userId, subscription);
    this.enabled.delete(subscription);
  }

  /** Does nothing if the subscription was removed. */
  setStatus(subscription: Subscription, status: string): void {
    const { view } = subscription;
    if (this.byId.get(view.id) !== subscription) return;
    const account = this.account(subscription);
    account.totalCost -= costNow(view);
    view.status = status;
    account.totalCost += costNow(view);
    if (status === 'enabled') this.enabled.add(subscription);
    else this.enabled.delete(subscription);
  }

  totalCost(owner: Owner): number {
    return this.account(owner).totalCost;
  }

  /** Returns up to `size` subscriptions after the given sequence, in order of creation. */
  page(
    owner: Owner,
    filter: SubscriptionFilter,
    { after, size }: { after: number; size: number },
  ): SubscriptionPage {
    const { ordered } = this.account(owner);
    const views: SubscriptionView[] = [];
    let last = after;
    for (let index = firstAfter(ordered, after); index < ordered.length; index += 1) {
      const subscription = ordered[index];
      if (!subscription || !fits(subscription.view, filter)) continue;
      if (views.length === size) return { views, after: last };
      views.push(subscription.view);
      last = subscription.sequence;
    }
    return { views, after: null };
  }

  private account(owner: Owner): Account {
    const key = keyOfOwner(owner);
    const account = this.accounts.get(key) ?? { ordered: [], totalCost: 0 };
    this.accounts.set(key, account);
    return account;
  }
}

/** Ended subscriptions cost nothing. */
function costNow(view: SubscriptionView): number {
  return isLiving(view) ? view.cost : 0;
}

function alikeKey(owner: Owner, { type, version, condition }: SubscriptionView): string {
  return JSON.stringify([keyOfOwner(owner), type, version, conditionKey(condition)]);
}

function fits(
  view: SubscriptionView,
  { status, type, user_id, subscription_id, conduit_id }: SubscriptionFilter,
): boolean {
  return (
    (status === undefined || view.status === status) &&
    (type === undefined || view.type === type) &&
    (user_id === undefined || usersIn(view.condition).includes(user_id)) &&
    (subscription_id === undefined || view.id === subscription_id) &&
    (conduit_id === undefined ||
      (view.transport.method === 'conduit' && view.transport.conduit_id === conduit_id))
  );
}

/** Index of the first subscription with a higher sequence (binary search). */
function firstAfter(ordered: readonly Subscription[], sequence: number): number {
  let [low, high] = [0, ordered.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = ordered[middle];
    if (found !== undefined && found.sequence <= sequence) low = middle + 1;
    else high = middle;
  }
  return low;
}
