import { Inject, Injectable } from '@nestjs/common';
import {
  maxAuthorizationUsers,
  PlatformCallError,
  PlatformUnavailableError,
  type OutboundPlatform,
} from '@stream-events/platforms';
import { LOGGER, type Logger } from '@stream-events/service';
import { PLATFORM, PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';
import { SubscriptionsRepository } from '../subscriptions/subscriptions.repository.js';
import { areSameScopes, type GrantsOf } from './consent.js';
import { UserGrantsRepository, type KnownUser } from './user-grants.repository.js';

// How many users to list per round. 500 users take 50 calls and about 2 s; the next round starts at once with the next users.
const usersPerRound = 500;
// Maximum number of concurrent listings. A call takes about 100 ms, and other calls need slots too.
const concurrency = 4;
// How long to pause after a failed listing. Other calls may still work, so the service makes one attempt to subscribe per channel, which
// shows whether the channel has given consent.
const failurePauseMs = 5 * 60_000;

/**
 * Finds out which scopes users have granted, so that the service creates only subscriptions with consent. The platform lists the grants.
 * When a message reports that a user's consent has changed, the service lists that user's grants again.
 */
@Injectable()
export class UserGrants {
  private failedUntil = 0;

  constructor(
    private readonly repository: UserGrantsRepository,
    private readonly subscriptions: SubscriptionsRepository,
    private readonly schedule: ReconciliationSchedule,
    @Inject(PLATFORM) private readonly platform: OutboundPlatform,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Lists the grants of at most 500 users whose listing is due. Returns a function that looks up the known grants of a user in `userIds`.
   */
  async read(userIds: readonly string[], signal: AbortSignal): Promise<GrantsOf> {
    const users = await this.repository.keep(this.clientId, userIds);
    const known = new Map(users.map(({ userId, scopes }) => [userId, scopes && new Set(scopes)]));
    const due = this.isFailing ? [] : users.filter(({ isDue }) => isDue);
    for (const [userId, scopes] of await this.list(due.slice(0, usersPerRound), signal))
      known.set(userId, scopes);
    if (due.length > usersPerRound && !this.isFailing) await this.schedule.hint();
    const { isFailing } = this;
    return (userId) => known.get(userId) ?? (isFailing ? 'unknown' : 'unlisted');
  }

  /** Schedules a new listing of the user's grants. Retries the subscriptions that the platform refused. */
  async onGranted(userId: string): Promise<void> {
    await this.repository.forget([userId]);
    await this.subscriptions.retryRefused([userId]);
    await this.schedule.hint();
  }

  /** Schedules a new listing of the users' grants. */
  async onRevoked(userIds: readonly string[]): Promise<void> {
    await this.repository.forget(userIds);
    await this.schedule.hint();
  }

  private get clientId(): string {
    return this.settings.credentials?.clientId ?? '';
  }

  private get isFailing(): boolean {
    return performance.now() < this.failedUntil;
  }

  private async list(users: readonly KnownUser[], signal: AbortSignal): Promise<Map<string, Set<string>>> {
    const listed = new Map<string, Set<string>>();
    const queue = partsOf(users);
    const work = async (): Promise<void> => {
      for (let part = queue.shift(); part; part = queue.shift()) {
        signal.throwIfAborted();
        for (const [userId, scopes] of await this.listPart(part)) listed.set(userId, scopes);
      }
    };
    try {
      await Promise.all(Array.from({ length: concurrency }, work));
    } catch (error) {
      queue.length = 0;
      if (!(error instanceof PlatformUnavailableError)) throw error;
      this.onFailure(error);
    }
    return listed;
  }

  private async listPart(users: readonly KnownUser[]): Promise<[string, Set<string>][]> {
    const authorizations = await this.platform.listAuthorizations(users.map(({ userId }) => userId));
    const scopesOf = new Map(authorizations.map(({ userId, scopes }) => [userId, scopes]));
    // The platform omits users that do not exist, so give them no scopes.
    const listed = users.map((user) => ({ ...user, scopes: scopesOf.get(user.userId) ?? [] }));
    const saved = new Set(await this.repository.save(this.clientId, listed));
    const changed = users.filter(
      ({ userId, scopes }) => scopes !== null && !areSameScopes(scopes, scopesOf.get(userId) ?? []),
    );
    if (changed.length > 0) await this.subscriptions.retryRefused(changed.map(({ userId }) => userId));
    return listed.flatMap(({ userId, scopes }) => (saved.has(userId) ? [[userId, new Set(scopes)]] : []));
  }

  private onFailure(error: PlatformUnavailableError): void {
    // Only a PlatformCallError is specific to this call. Any other error affects all calls, so an attempt to subscribe would fail too.
    if (error instanceof PlatformCallError) this.failedUntil = performance.now() + failurePauseMs;
    this.logger.warn({ err: error }, 'cannot list the grants of users, retrying within 5 min');
  }
}

function partsOf(users: readonly KnownUser[]): KnownUser[][] {
  return Array.from({ length: Math.ceil(users.length / maxAuthorizationUsers) }, (_, part) =>
    users.slice(part * maxAuthorizationUsers, (part + 1) * maxAuthorizationUsers),
  );
}
