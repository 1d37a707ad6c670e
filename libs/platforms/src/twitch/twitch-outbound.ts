import type {
  LookUpPriority,
  PictureKind,
  PlatformStreamMessage,
  PlatformUserMessage,
} from '@stream-events/contracts';
import type {
  Authorization,
  ConduitOutcome,
  CreateOutcome,
  NewSubscription,
  OutboundPlatform,
  PictureAddress,
  PlatformCaller,
  PlatformConduit,
  PlatformReply,
  PlatformShardPage,
  PlatformSubscriptionPage,
  PlatformUrls,
  ShardOutcome,
} from '../outbound-platform.js';
import { PlatformCallError } from '../platform-call-error.js';
import { readAuthorizations, toAuthorizationsQuery } from './authorizations.external.js';
import {
  readConduit,
  readConduits,
  readShardPage,
  readShardRefusal,
  toShardBody,
} from './conduits.external.js';
import { readErrorMessage } from './errors.external.js';
import { readGamePictures, readUserPictures, toGamesQuery } from './pictures.external.js';
import { readStreams, toStreamsQuery } from './streams.external.js';
import {
  readCreatedSubscription,
  readExistingId,
  readSubscriptionPage,
  toSubscriptionBody,
} from './subscriptions.external.js';
import { readUsers, toUsersQuery } from './users.external.js';

/** Calls to Twitch, or to the simulator, which uses the same protocol. */
export class TwitchOutbound implements OutboundPlatform {
  constructor(
    private readonly caller: PlatformCaller,
    private readonly urls: PlatformUrls,
  ) {}

  async lookUpUsers(
    ids: readonly string[],
    logins: readonly string[],
    priority: LookUpPriority,
  ): Promise<PlatformUserMessage[]> {
    const query = toUsersQuery(ids, logins);
    if (query === '') return []; // Twitch rejects a lookup without users
    const url = `${this.urls.api}/users?${query}`;
    return this.caller.call({ endpoint: 'users', method: 'GET', url, priority }, (reply) =>
      readUsers(bodyOf(reply, 200)),
    );
  }

  async lookUpStreams(
    userIds: readonly string[],
  ): Promise<{ streams: PlatformStreamMessage[]; askedAt: number }> {
    if (userIds.length === 0) return { streams: [], askedAt: Date.now() }; // Twitch would list arbitrary streams
    const url = `${this.urls.api}/streams?${toStreamsQuery(userIds)}`;
    return this.caller.call(
      { endpoint: 'streams', method: 'GET', url, priority: 'background' },
      (reply, askedAt) => ({ streams: readStreams(bodyOf(reply, 200)), askedAt }),
    );
  }

  async listSubscriptions(page?: string): Promise<PlatformSubscriptionPage> {
    const query = page === undefined ? '' : `?${new URLSearchParams({ after: page }).toString()}`;
    return this.caller.call(
      { ...this.subscriptions(query), endpoint: 'list_subscriptions', method: 'GET' },
      (reply) => readSubscriptionPage(bodyOf(reply, 200)),
    );
  }

  async createSubscription(wanted: NewSubscription): Promise<CreateOutcome> {
    const body = toSubscriptionBody(wanted);
    return this.caller.call(
      { ...this.subscriptions(), endpoint: 'create_subscription', method: 'POST', body },
      toCreateOutcome,
    );
  }

  async deleteSubscription(id: string): Promise<void> {
    const query = `?${new URLSearchParams({ id }).toString()}`;
    await this.caller.call(
      { ...this.subscriptions(query), endpoint: 'delete_subscription', method: 'DELETE' },
      (reply) => {
        if (reply.status !== 204 && reply.status !== 404) throw unexpected(reply);
      },
    );
  }

  async listAuthorizations(userIds: readonly string[]): Promise<Authorization[]> {
    const query = toAuthorizationsQuery(userIds);
    if (query === '') return []; // Twitch rejects a list without users
    const url = `${this.urls.api}/authorization/users?${query}`;
    return this.caller.call(
      { endpoint: 'list_authorizations', method: 'GET', url, priority: 'background' },
      (reply) => readAuthorizations(bodyOf(reply, 200)),
    );
  }

  async listConduits(): Promise<PlatformConduit[]> {
    return this.caller.call({ ...this.conduits(), endpoint: 'list_conduits', method: 'GET' }, (reply) =>
      readConduits(bodyOf(reply, 200)),
    );
  }

  async createConduit(shardCount: number): Promise<ConduitOutcome> {
    const body = JSON.stringify({ shard_count: shardCount });
    return this.caller.call(
      { ...this.conduits(), endpoint: 'create_conduit', method: 'POST', body },
      (reply) =>
        reply.status === 429
          ? { kind: 'limit_reached', message: readErrorMessage(reply.body) }
          : { kind: 'created', conduit: readConduit(bodyOf(reply, 200)) },
    );
  }

  async resizeConduit(id: string, shardCount: number): Promise<boolean> {
    const body = JSON.stringify({ id, shard_count: shardCount });
    return this.caller.call(
      { ...this.conduits(), endpoint: 'update_conduit', method: 'PATCH', body },
      (reply) => {
        if (reply.status === 404) return false;
        readConduit(bodyOf(reply, 200));
        return true;
      },
    );
  }

  async deleteConduit(id: string): Promise<void> {
    const query = `?${new URLSearchParams({ id }).toString()}`;
    await this.caller.call(
      { ...this.conduits(query), endpoint: 'delete_conduit', method: 'DELETE' },
      (reply) => {
        if (reply.status !== 204 && reply.status !== 404) throw unexpected(reply);
      },
    );
  }

  async listShards(conduitId: string, page?: string): Promise<PlatformShardPage | null> {
    const query = new URLSearchParams({ conduit_id: conduitId, ...(page !== undefined && { after: page }) });
    return this.caller.call(
      { ...this.conduits(`/shards?${query.toString()}`), endpoint: 'list_shards', method: 'GET' },
      (reply) => (reply.status === 404 ? null : readShardPage(bodyOf(reply, 200))),
    );
  }

  async assignShard(conduitId: string, shardId: number, sessionId: string): Promise<ShardOutcome> {
    const body = toShardBody(conduitId, shardId, sessionId);
    return this.caller.call(
      { ...this.conduits('/shards'), endpoint: 'assign_shard', method: 'PATCH', body },
      toShardOutcome,
    );
  }

  /** Gives calls about conduits interactive priority, because the platform drops events while a shard has no session. */
  private conduits(path = '') {
    return { url: `${this.urls.subscriptions}/conduits${path}`, priority: 'interactive' } as const;
  }

  async lookUpPictures(kind: PictureKind, ids: readonly string[]): Promise<PictureAddress[]> {
    const endpoint = kind === 'user' ? 'users' : 'games';
    const query = kind === 'user' ? toUsersQuery(ids, []) : toGamesQuery(ids);
    if (query === '') return []; // Twitch rejects a lookup without ids
    const read = kind === 'user' ? readUserPictures : readGamePictures;
    const url = `${this.urls.api}/${endpoint}?${query}`;
    return this.caller.call({ endpoint, method: 'GET', url, priority: 'background' }, (reply) =>
      read(bodyOf(reply, 200)),
    );
  }

  private subscriptions(query = '') {
    return { url: `${this.urls.subscriptions}/subscriptions${query}`, priority: 'background' } as const;
  }
}

/** Maps the reply to `POST eventsub/subscriptions` to an outcome, by status (FACTS.md §4.5). */
function toCreateOutcome(reply: PlatformReply): CreateOutcome {
  const { status, body } = reply;
  switch (status) {
    case 202:
      return { kind: 'created', subscription: readCreatedSubscription(body) };
    case 409:
      return { kind: 'exists', id: readExistingId(body) };
    case 429:
      return { kind: 'limit_reached', message: readErrorMessage(body) };
    case 400:
    case 403:
    case 410:
      return { kind: 'refused', status, message: readErrorMessage(body) };
    default:
      throw unexpected(reply);
  }
}

function toShardOutcome(reply: PlatformReply): ShardOutcome {
  if (reply.status === 404) return { kind: 'gone' };
  if (reply.status === 400) return { kind: 'refused', message: readErrorMessage(reply.body) };
  const refusal = readShardRefusal(bodyOf(reply, 202));
  return refusal === null ? { kind: 'assigned' } : { kind: 'refused', message: refusal };
}

function bodyOf(reply: PlatformReply, status: number): unknown {
  if (reply.status !== status) throw unexpected(reply);
  return reply.body;
}

function unexpected({ status, body }: PlatformReply): PlatformCallError {
  const message = `The platform rejected the call with status ${status}: ${readErrorMessage(body)}`;
  return new PlatformCallError('unexpected_status', message);
}
