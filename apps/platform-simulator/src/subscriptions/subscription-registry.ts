import { EnabledIndex } from './enabled-index.js';
import { MultiMap } from './multi-map.js';
import { conditionKey, isLiving, usersIn, type Subscription, type SubscriptionView } from './subscription.js';

/** The subscriptions of one application. */
interface Account {
  /** Sorted by sequence, so that pages stay consistent when subscriptions are deleted in between. */
  ordered: Subscription[];
  totalCost: number;
}

/** Filter of a list; at most one member is set. */
export interface SubscriptionFilter {
  status?: string | undefined;
  type?: string | undefined;
  user_id?: string | undefined;
  subscription_id?: string | undefined;
}

/** A page of an application's subscriptions. */
export interface SubscriptionPage {
  views: SubscriptionView[];
  /** The next page starts after this sequence; null on the last page. */
  after: number | null;
}

/** All subscriptions in memory, with indexes that keep every lookup fast at tens of thousands of subscriptions. */
export class SubscriptionRegistry {
  readonly enabled = new EnabledIndex();
  private readonly byId = new Map<string, Subscription>();
  private readonly alike = new MultiMap<Subscription>();
  private readonly byUser = new MultiMap<Subscription>();
  private readonly accounts = new Map<string, Account>();

  find(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  /** Finds the subscriptions of an application with the same type, version, and condition. */
  findAlike(clientId: string, view: SubscriptionView): Subscription[] {
    return [...this.alike.get(alikeKey(clientId, view))];
  }

  /** Finds the subscriptions of all applications whose condition names this user. */
  findAbout(userId: string): Subscription[] {
    return [...this.byUser.get(userId)];
  }

  add(subscription: Subscription): void {
    const { view, clientId } = subscription;
    const account = this.account(clientId);
    account.ordered.push(subscription);
    account.totalCost += costNow(view);
    this.byId.set(view.id, subscription);
    this.alike.add(alikeKey(clientId, view), subscription);
    for (const userId of usersIn(view.condition)) this.byUser.add(userId, subscription);
    if (view.status === 'enabled') this.enabled.add(subscription);
  }

  remove(subscription: Subscription): void {
    const { view, clientId, sequence } = subscription;
    const account = this.account(clientId);
    account.ordered.splice(firstAfter(account.ordered, sequence - 1), 1);
    account.totalCost -= costNow(view);
    this.byId.delete(view.id);
    this.alike.delete(alikeKey(clientId, view), subscription);
    for (const userId of usersIn(view.condition)) this.byUser.delete(userId, subscription);
    this.enabled.delete(subscription);
  }

  /** Changes the status of a subscription unless it was removed. */
  setStatus(subscription: Subscription, status: string): void {
    const { view, clientId } = subscription;
    if (this.byId.get(view.id) !== subscription) return;
    const account = this.account(clientId);
    account.totalCost -= costNow(view);
    view.status = status;
    account.totalCost += costNow(view);
    if (status === 'enabled') this.enabled.add(subscription);
    else this.enabled.delete(subscription);
  }

  count(clientId: string): number {
    return this.account(clientId).ordered.length;
  }

  totalCost(clientId: string): number {
    return this.account(clientId).totalCost;
  }

  /** Returns up to `size` subscriptions of an application after a sequence, in order of creation. */
  page(
    clientId: string,
    filter: SubscriptionFilter,
    { after, size }: { after: number; size: number },
  ): SubscriptionPage {
    const { ordered } = this.account(clientId);
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

  private account(clientId: string): Account {
    const account = this.accounts.get(clientId) ?? { ordered: [], totalCost: 0 };
    this.accounts.set(clientId, account);
    return account;
  }
}

/** Only enabled and pending subscriptions have a cost. */
function costNow(view: SubscriptionView): number {
  return isLiving(view) ? view.cost : 0;
}

function alikeKey(clientId: string, { type, version, condition }: SubscriptionView): string {
  return JSON.stringify([clientId, type, version, conditionKey(condition)]);
}

function fits(
  view: SubscriptionView,
  { status, type, user_id, subscription_id }: SubscriptionFilter,
): boolean {
  return (
    (status === undefined || view.status === status) &&
    (type === undefined || view.type === type) &&
    (user_id === undefined || usersIn(view.condition).includes(user_id)) &&
    (subscription_id === undefined || view.id === subscription_id)
  );
}

/** Index of the first subscription with a greater sequence (binary search). */
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
