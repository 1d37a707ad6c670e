import {
  type Authorization,
  type CreateOutcome,
  findEventType,
  type Condition,
  type NewSubscription,
  type OutboundPlatform,
  PlatformCallError,
  type PlatformSubscription,
  type PlatformSubscriptionPage,
  PlatformUnavailableError,
  requiredGrants,
  scopes,
  subscriptionKey,
  type SubscriptionTransport,
} from '@stream-events/platforms';
import { isLive } from '../src/subscriptions/own-subscription.js';

const pageSize = 100;
const costlessTypes = ['channel.cheer', 'channel.follow'];

// As on the real platform, an id is never reused, not even by another test. A late revocation therefore matches no subscription.
let nextId = 1;

/** A platform in memory, with the real platform's limits, refusals, and paging. */
export class StandInPlatform implements OutboundPlatform {
  readonly subscriptions = new Map<string, PlatformSubscription>();
  /** How often a subscription was created, by type, condition, and transport. */
  readonly creations = new Map<string, number>();
  maxCost = 10_000;
  /** The limits that the next listings report instead, in order. */
  readonly nextMaxCosts: number[] = [];
  /** How many subscriptions of a listing's page the next page repeats. */
  pageOverlap = 0;
  highestCost = 0;
  listings = 0;
  /** The time of the last creation, by a monotonic clock. */
  lastCreationAt = 0;
  isAway = false;
  /** The status of a new subscription (`newStatus`). If that status is pending, the next listing changes it to `verifiedStatus`. */
  newStatus = 'enabled';
  verifiedStatus = 'enabled';
  /** Streamers for which every creation fails. */
  readonly failingStreamers = new Set<string>();
  /** Streamers that do not exist on the platform. */
  readonly unknownStreamers = new Set<string>();
  saysIdOnConflict = true;
  /** The scopes that users have granted. When undefined, everyone has granted everything. */
  grants: Map<string, string[]> | undefined;
  /** When set, every request to list grants fails with this error. */
  authorizationFailure: PlatformUnavailableError | undefined;
  /** The users in each request to list grants. */
  readonly authorizationLists: (readonly string[])[] = [];
  /** How often the platform refused because consent was missing, by streamer. */
  readonly denials = new Map<string, number>();
  /** Runs after a subscription is created, before the reply is sent. */
  beforeCreationAnswer: () => Promise<void> = () => Promise.resolve();
  private totalCost = 0;
  /** The ids of subscriptions, by type, condition, and transport. */
  private readonly keys = new Map<string, string>();

  lookUpUsers(): Promise<never> {
    return Promise.reject(new Error('the reconciler makes no look-ups'));
  }

  lookUpStreams(): Promise<never> {
    return Promise.reject(new Error('the reconciler makes no look-ups'));
  }

  listConduits(): Promise<never> {
    return Promise.reject(away());
  }

  createConduit(): Promise<never> {
    return Promise.reject(away());
  }

  resizeConduit(): Promise<never> {
    return Promise.reject(away());
  }

  deleteConduit(): Promise<never> {
    return Promise.reject(away());
  }

  listShards(): Promise<never> {
    return Promise.reject(away());
  }

  assignShard(): Promise<never> {
    return Promise.reject(away());
  }

  get cost(): number {
    return this.totalCost;
  }

  /** Returns the subscriptions with this callback, as `type streamer`, sorted. */
  names(callback: string): string[] {
    return [...this.subscriptions.values()]
      .filter(({ transport }) => transport?.method === 'webhook' && transport.callback === callback)
      .map(({ type, condition }) => `${type} ${condition.broadcaster_user_id}`)
      .sort();
  }

  /** Adds a subscription that the connector did not create. */
  add(subscription: Omit<PlatformSubscription, 'id'>): PlatformSubscription {
    const added = { ...subscription, id: `subscription-${nextId++}` };
    this.subscriptions.set(added.id, added);
    this.keys.set(keyOf(added), added.id);
    this.totalCost += isLive(added.status) ? added.cost : 0;
    this.highestCost = Math.max(this.highestCost, this.totalCost);
    return added;
  }

  listSubscriptions(page = '0'): Promise<PlatformSubscriptionPage> {
    if (this.isAway) return Promise.reject(away());
    if (page === '0') {
      this.listings += 1;
      for (const each of this.subscriptions.values())
        if (each.status !== 'enabled' && isLive(each.status)) this.setStatus(each.id, this.verifiedStatus);
    }
    const start = Number(page);
    const all = [...this.subscriptions.values()];
    const subscriptions = all.slice(start, start + pageSize).map((each) => ({ ...each }));
    const next = start + pageSize < all.length ? `${start + pageSize - this.pageOverlap}` : null;
    const maxTotalCost = this.nextMaxCosts.shift() ?? this.maxCost;
    return Promise.resolve({ subscriptions, next, totalCost: this.totalCost, maxTotalCost });
  }

  async createSubscription(wanted: NewSubscription): Promise<CreateOutcome> {
    if (this.isAway) throw away();
    if (this.failingStreamers.has(wanted.condition.broadcaster_user_id ?? ''))
      throw new PlatformCallError('server_error', 'The platform failed with status 500.');
    const outcome = this.tryToCreate(wanted);
    this.lastCreationAt = performance.now();
    await this.beforeCreationAnswer();
    return outcome;
  }

  deleteSubscription(id: string): Promise<void> {
    if (this.isAway) return Promise.reject(away());
    const existing = this.subscriptions.get(id);
    if (existing && isLive(existing.status)) this.totalCost -= existing.cost;
    if (existing) this.keys.delete(keyOf(existing));
    this.subscriptions.delete(id);
    return Promise.resolve();
  }

  listAuthorizations(userIds: readonly string[]): Promise<Authorization[]> {
    this.authorizationLists.push(userIds);
    if (this.isAway) return Promise.reject(away());
    if (this.authorizationFailure) return Promise.reject(this.authorizationFailure);
    const every = scopes.map(({ scope }) => scope);
    return Promise.resolve(
      userIds.map((userId) => ({ userId, scopes: this.grants ? (this.grants.get(userId) ?? []) : every })),
    );
  }

  lookUpPictures(): Promise<never> {
    return Promise.reject(new Error('no test calls this'));
  }

  setStatus(id: string, status: string): void {
    const existing = this.subscriptions.get(id)!;
    if (isLive(existing.status) && !isLive(status)) this.totalCost -= existing.cost;
    existing.status = status;
  }

  private tryToCreate({ type, version, condition, transport: sent }: NewSubscription): CreateOutcome {
    const transport: SubscriptionTransport =
      sent.method === 'webhook' ? { method: sent.method, callback: sent.callback } : sent;
    const key = keyOf({ type, version, condition, transport });
    const existingId = this.keys.get(key);
    if (existingId !== undefined) return { kind: 'exists', id: this.saysIdOnConflict ? existingId : null };
    if (this.unknownStreamers.has(condition.broadcaster_user_id ?? ''))
      return { kind: 'refused', status: 400, message: 'unknown user' };
    if (!this.hasConsent(type, condition)) {
      const streamerId = condition.broadcaster_user_id ?? '';
      this.denials.set(streamerId, (this.denials.get(streamerId) ?? 0) + 1);
      return { kind: 'refused', status: 403, message: 'subscription missing proper authorization' };
    }
    const cost = costlessTypes.includes(type) ? 0 : 1;
    if (this.totalCost + cost > this.maxCost) return { kind: 'limit_reached', message: 'too much' };
    const subscription = this.add({ type, version, condition, transport, cost, status: this.newStatus });
    this.creations.set(key, (this.creations.get(key) ?? 0) + 1);
    return { kind: 'created', subscription: { ...subscription } };
  }

  private hasConsent(type: string, condition: Condition): boolean {
    const { grants } = this;
    const row = findEventType(type);
    if (!grants || !row) return true;
    return requiredGrants(row, condition).every(({ userId, oneOf }) =>
      oneOf.some((scope) => grants.get(userId)?.includes(scope)),
    );
  }
}

function keyOf(subscription: Omit<PlatformSubscription, 'id' | 'cost' | 'status'>): string {
  return `${subscriptionKey(subscription)} ${JSON.stringify(subscription.transport)}`;
}

function away(): PlatformUnavailableError {
  return new PlatformUnavailableError('the platform does not respond', 1);
}
