import { Inject, Injectable } from '@nestjs/common';
import type { LookUpPriority, PlatformStreamMessage, PlatformUserMessage } from '@stream-events/contracts';
import { readErrorMessage } from './errors.external.js';
import { PlatformCallError } from './platform-call-error.js';
import { PlatformClient } from './platform-client.js';
import type { PlatformAnswer } from './platform-http.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from './platform-settings.js';
import type { CreateOutcome, NewSubscription, Platform, PlatformSubscriptionPage } from './platform.js';
import { streamLimits, subscriptionLimits, userLimits } from './retry-schedule.js';
import { readStreams, toStreamsQuery } from './streams.external.js';
import {
  readCreatedSubscription,
  readExistingId,
  readSubscriptionPage,
  toSubscriptionBody,
} from './subscriptions.external.js';
import { readUsers, toUsersQuery } from './users.external.js';

/** Twitch, or what speaks as Twitch does: the simulator. */
@Injectable()
export class TwitchPlatform implements Platform {
  constructor(
    private readonly client: PlatformClient,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  async lookUpUsers(
    ids: readonly string[],
    logins: readonly string[],
    priority: LookUpPriority,
  ): Promise<PlatformUserMessage[]> {
    const query = toUsersQuery(ids, logins);
    if (query === '') return []; // the platform would refuse to answer about nobody
    const url = `${this.settings.apiUrl}/users?${query}`;
    return this.client.call(
      { endpoint: 'users', method: 'GET', url, priority, limits: userLimits },
      (answer) => readUsers(bodyOf(answer, 200)),
    );
  }

  async lookUpStreams(
    userIds: readonly string[],
  ): Promise<{ streams: PlatformStreamMessage[]; askedAt: number }> {
    if (userIds.length === 0) return { streams: [], askedAt: Date.now() }; // the platform would list anybody's
    const url = `${this.settings.apiUrl}/streams?${toStreamsQuery(userIds)}`;
    return this.client.call(
      { endpoint: 'streams', method: 'GET', url, priority: 'background', limits: streamLimits },
      (answer, askedAt) => ({ streams: readStreams(bodyOf(answer, 200)), askedAt }),
    );
  }

  async listSubscriptions(page?: string): Promise<PlatformSubscriptionPage> {
    const query = page === undefined ? '' : `?${new URLSearchParams({ after: page }).toString()}`;
    return this.client.call(
      { ...this.subscriptions(query), endpoint: 'list_subscriptions', method: 'GET' },
      (answer) => readSubscriptionPage(bodyOf(answer, 200)),
    );
  }

  async createSubscription(wanted: NewSubscription): Promise<CreateOutcome> {
    const body = toSubscriptionBody(wanted);
    return this.client.call(
      { ...this.subscriptions(), endpoint: 'create_subscription', method: 'POST', body },
      toCreateOutcome,
    );
  }

  async deleteSubscription(id: string): Promise<void> {
    const query = `?${new URLSearchParams({ id }).toString()}`;
    await this.client.call(
      { ...this.subscriptions(query), endpoint: 'delete_subscription', method: 'DELETE' },
      (answer) => {
        if (answer.status !== 204 && answer.status !== 404) throw unexpected(answer);
      },
    );
  }

  private subscriptions(query = '') {
    const url = `${this.settings.eventsubUrl}/subscriptions${query}`;
    return { url, priority: 'background', limits: subscriptionLimits } as const;
  }
}

/** What the statuses of `POST eventsub/subscriptions` mean (docs/platform-facts.md §4.5). */
function toCreateOutcome(answer: PlatformAnswer): CreateOutcome {
  const { status, body } = answer;
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
      throw unexpected(answer);
  }
}

function bodyOf(answer: PlatformAnswer, status: number): unknown {
  if (answer.status !== status) throw unexpected(answer);
  return answer.body;
}

function unexpected({ status, body }: PlatformAnswer): PlatformCallError {
  const message = `The platform refused the call with status ${status}: ${readErrorMessage(body)}`;
  return new PlatformCallError('unexpected_status', message);
}
