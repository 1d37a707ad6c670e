import { EnabledIndex } from './enabled-index.js';
import { MultiMap } from './multi-map.js';
import { conditionKey, isLiving, usersIn, type Subscription, type SubscriptionView } from './subscription.js';

/** What one application has. */
interface Account {
  /** By sequence, so that a page begins where the last one ended, whatever was deleted meanwhile. */
  ordered: Subscription[];
  totalCost: number;
}

/** Which subscriptions a list shows; only one of these is given. */
export interface SubscriptionFilter {
  status?: string | undefined;
  type?: string | undefined;
  user_id?: string | undefined;
  subscription_id?: string | undefined;
}

/** A part of an application's list. */
export interface SubscriptionPage {
  views: SubscriptionView[];
  /** The sequence after which the next page begins; null at the end. */
  after: number | null;
}

/** All subscriptions, in memory, with the indexes that keep every question fast at tens of thousands of them. */
export class SubscriptionRegistry {
  readonly enabled = new EnabledIndex();
  private readonly byId = new Map<string, Subscription>();
  private readonly alike = new MultiMap<Subscription>();
  private readonly byUser = new MultiMap<Subscription>();
  private readonly accounts = new Map<string, Account>();

  find(id: string): Subscription | undefined {
    return this.byId.get(id);
  }

  /** Those of an application with this type, version and condition. */
  findAlike(clientId: string, view: SubscriptionView): Subscription[] {
    return [...this.alike.get(alikeKey(clientId, view))];
  }

  /** Those of all applications whose condition names this user. */
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

  /** Changes the status of one that is still there. */
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

  /** Up to `size` subscriptions of an application from after this sequence on, in the order of their creation. */
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

/** What is dead costs nothing. */
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

/** Index of the first one with a greater sequence (binary search). */
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
