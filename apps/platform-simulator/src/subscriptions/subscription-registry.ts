import { EnabledIndex } from './enabled-index.js';
import { MultiMap } from './multi-map.js';
import {
  conditionKey,
  isLiving,
  keyOfOwner,
  usersIn,
  type Owner,
  type Subscription,
  type SubscriptionView,
} from './subscription.js';

interface Account {
  /** Sorted by sequence, so that deletions between two requests do not shift the pages. */
  ordered: Subscription[];
  totalCost: number;
}

/** At most one field is set. */
export interface SubscriptionFilter {
  status?: string | undefined;
  type?: string | undefined;
  user_id?: string | undefined;
  subscription_id?: string | undefined;
  conduit_id?: string | undefined;
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
