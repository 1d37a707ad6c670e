import type { LookUpPriority, PlatformStreamMessage, PlatformUserMessage } from '@stream-events/contracts';
import type {
  Authorization,
  CreateOutcome,
  NewSubscription,
  OutboundPlatform,
  PlatformCaller,
  PlatformReply,
  PlatformSubscriptionPage,
  PlatformUrls,
} from '../outbound-platform.js';
import { PlatformCallError } from '../platform-call-error.js';
import { readAuthorizations, toAuthorizationsQuery } from './authorizations.external.js';
import { readErrorMessage } from './errors.external.js';
import { readStreams, toStreamsQuery } from './streams.external.js';
import {
  readCreatedSubscription,
  readExistingId,
  readSubscriptionPage,
  toSubscriptionBody,
} from './subscriptions.external.js';
import { readUsers, toUsersQuery } from './users.external.js';

/** The calls of Twitch, or of the simulator, which speaks the same protocol. */
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

  private subscriptions(query = '') {
    return { url: `${this.urls.subscriptions}/subscriptions${query}`, priority: 'background' } as const;
  }
}

/** The meaning of the statuses of `POST eventsub/subscriptions` (docs/platform-facts.md §4.5). */
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

function bodyOf(reply: PlatformReply, status: number): unknown {
  if (reply.status !== status) throw unexpected(reply);
  return reply.body;
}

function unexpected({ status, body }: PlatformReply): PlatformCallError {
  const message = `The platform rejected the call with status ${status}: ${readErrorMessage(body)}`;
  return new PlatformCallError('unexpected_status', message);
}
