import { Inject, Injectable } from '@nestjs/common';
import { UserPlatforms, type ConnectedUser } from '../connections/user-platforms.service.js';
import { PLATFORM, PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { UserSessionsRepository } from '../sockets/user-sessions.repository.js';
import {
  PlatformUnavailableError,
  type CreateOutcome,
  type OutboundPlatform,
  type PlatformSubscription,
} from '@stream-events/platforms';
import type { OwnSubscription } from '../subscriptions/own-subscription.js';
import { OwnTransportsReader } from '../subscriptions/own-transports.js';

/** All of the application's subscriptions on the platform. */
export interface PlatformListing {
  subscriptions: PlatformSubscription[];
  maxCost: number;
}

// How many pages to read. With 100 subscriptions per page, this is enough for a million. A longer list means that paging does not end.
const maxPages = 10_000;
// The retry time when no user is connected. The session of a newly connected user requests a round at once, so this pause rarely matters.
const noUserRetrySeconds = 10;

/**
 * Lists, creates, and deletes subscriptions on the platform. All methods throw PlatformUnavailableError when the platform, a token, or a
 * transport is unavailable.
 *
 * Over plain sockets, each user's token has its own limit. A listing with the token contains only the subscriptions that were created with
 * that token.
 */
@Injectable()
export class PlatformSubscriptions {
  /** By subscription id: the user whose token returned the subscription in the last listing. */
  private readonly users = new Map<string, ConnectedUser>();

  constructor(
    @Inject(PLATFORM) private readonly platform: OutboundPlatform,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
    private readonly userPlatforms: UserPlatforms,
    private readonly sessions: UserSessionsRepository,
    private readonly transports: OwnTransportsReader,
  ) {}

  /**
   * Lists all subscriptions, each one once: pages can overlap, and a user's listing can contain the application's subscriptions. If any
   * page fails, the whole listing fails.
   */
  async list(signal: AbortSignal): Promise<PlatformListing> {
    const isOfUsers = (await this.transports.method()) === 'websocket';
    const hasOwnToken = this.settings.credentials?.clientSecret !== undefined;
    const users = await this.usersWithSockets();
    if (isOfUsers && users.length === 0)
      throw new PlatformUnavailableError(
        'No channel with an event socket is connected. Connect one with POST /api/v1/platform/connections.',
        noUserRetrySeconds,
      );
    const ofApplication = isOfUsers && !hasOwnToken ? nothing() : await listAll(this.platform, signal);
    const ofUsers = nothing();
    this.users.clear();
    for (const user of users) {
      const { subscriptions, maxCost } = await listAll(this.userPlatforms.of(user), signal);
      for (const { id } of subscriptions) this.users.set(id, user);
      ofUsers.subscriptions.push(...subscriptions);
      // Use the largest limit. Each user has a separate limit, but only subscriptions for channels that are not connected cost anything,
      // and all of these use the session of one user.
      ofUsers.maxCost = Math.max(ofUsers.maxCost, maxCost);
    }
    // From the listing with the other limit, take only our own subscriptions. Other programs' subscriptions in that listing do not count
    // toward the limit for new subscriptions.
    const own = (await this.transports.read())?.own;
    const onlyOurs = ({ subscriptions }: PlatformListing): PlatformSubscription[] =>
      subscriptions.filter(({ transport }) => own?.kindOf(transport) !== undefined);
    const [main, rest] = isOfUsers ? [ofUsers, ofApplication] : [ofApplication, ofUsers];
    const byId = new Map([...onlyOurs(rest), ...main.subscriptions].map((each) => [each.id, each]));
    return { ...main, subscriptions: [...byId.values()] };
  }

  async create({ type, version, condition }: OwnSubscription): Promise<CreateOutcome> {
    const transport = (await this.transports.chooserForNew())?.(condition);
    // The transport was lost since the plan was made.
    if (!transport)
      throw new PlatformUnavailableError(
        'No webhook, conduit, or event socket is available for this subscription.',
        1,
      );
    const platform =
      transport.method === 'websocket' ? await this.platformOfSession(transport.sessionId) : this.platform;
    return platform.createSubscription({ type, version, condition, transport });
  }

  async delete(subscriptionId: string): Promise<void> {
    const user = this.users.get(subscriptionId);
    await (user ? this.userPlatforms.of(user) : this.platform).deleteSubscription(subscriptionId);
  }

  private async usersWithSockets(): Promise<ConnectedUser[]> {
    const sessions = await this.sessions.all();
    if (sessions.length === 0) return [];
    const users = await this.userPlatforms.connected();
    return users.filter(({ userId }) => sessions.some((session) => session.userId === userId));
  }

  private async platformOfSession(id: string): Promise<OutboundPlatform> {
    const session = (await this.sessions.all()).find(({ sessionId }) => sessionId === id);
    const user = (await this.userPlatforms.connected()).find(({ userId }) => userId === session?.userId);
    if (user) return this.userPlatforms.of(user);
    throw new PlatformUnavailableError('The user of the event socket is no longer connected.', 1);
  }
}

function nothing(): PlatformListing {
  return { subscriptions: [], maxCost: 0 };
}

async function listAll(platform: OutboundPlatform, signal: AbortSignal): Promise<PlatformListing> {
  const subscriptions: PlatformSubscription[] = [];
  let next: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    signal.throwIfAborted();
    const reply = await platform.listSubscriptions(next);
    subscriptions.push(...reply.subscriptions);
    if (reply.next === null) return { subscriptions, maxCost: reply.maxTotalCost };
    next = reply.next;
  }
  throw new Error(`cannot list the platform’s subscriptions: paging did not end after ${maxPages} pages`);
}
