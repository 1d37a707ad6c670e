import { toEventTypeRecord } from './event-types.dto.js';
import { toPlatformStatus } from './platform-status.dto.js';
import { toSubscriptionRecord } from './subscriptions.dto.js';

const time = Date.parse('2026-11-21T07:30:00.500Z');
const printed = '2026-11-21T07:30:00+0000';

describe(toSubscriptionRecord.name, () => {
  it('returns a subscription', () => {
    const subscription = {
      id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
      subscriptionId: null,
      type: 'stream.online',
      version: '1',
      condition: { broadcaster_user_id: '47019283' },
      transport: { method: 'conduit', conduitId: 'a-conduit' },
      status: 'refused',
      reason: 'the user has not consented',
      cost: 1,
      createdAt: time,
      updatedAt: time,
    };

    expect(toSubscriptionRecord(subscription)).toEqual({
      id: subscription.id,
      subscription_id: null,
      type: 'stream.online',
      version: '1',
      condition: { broadcaster_user_id: '47019283' },
      transport: { method: 'conduit', conduit_id: 'a-conduit' },
      status: 'refused',
      reason: 'the user has not consented',
      cost: 1,
      created: printed,
      updated: printed,
    });
  });
});

describe(toEventTypeRecord.name, () => {
  it('returns an event type with the type of its events and its status', () => {
    const eventType = {
      type: 'channel.channel_points_custom_reward_redemption.add',
      version: '1',
      condition: ['broadcaster_user_id'],
      scopes: [['channel:read:redemptions', 'channel:manage:redemptions']],
      description: 'A reward was redeemed',
      active: true,
      subscriptions: { enabled: 1, refused: 1 },
      unsupported: null,
    };

    expect(toEventTypeRecord(eventType)).toEqual({
      ...eventType,
      event_type: 'channel-channel_points_custom_reward_redemption-add',
      status: 'partly',
      permissions: [
        [
          'See custom rewards and redemptions',
          'Create/edit rewards and settle redemptions (implies reading)',
        ],
      ],
      details: '/api/v1/platform/event-types/channel.channel_points_custom_reward_redemption.add?version=1',
    });
  });
});

describe(toPlatformStatus.name, () => {
  const status = {
    platform: 'twitch' as const,
    credentials: { present: true, valid: true, tokenExpiresAt: time },
    budget: { limit: 800, remaining: 641, blockedUntil: time },
    circuit: 'open' as const,
    subscriptions: { enabled: 240, limit_reached: 6 },
    cost: { total: 240, max: 10_000 },
    streamers: { monitored: 123, subscribed: 120, polledOnly: 3 },
    transport: {
      method: 'conduit',
      moved: 120,
      total: 400,
      problem: null,
      conduit: {
        id: 'a-conduit',
        shards: [{ id: 0, state: 'enabled' as const, status: 'enabled', holder: 'host:1', since: time }],
        problem: null,
      },
    },
    callback: 'https://events.example.org/api/v1/platform-events/webhook',
    webhookSecret: { moved: 120, total: 400, canRemoveOthers: false, problem: null },
    alarms: [
      {
        id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
        key: 'shard_lost:3',
        kind: 'shard_lost' as const,
        subject: '3',
        message: 'A shard is lost.',
        raisedAt: 1_763_700_000_000,
        clearedAt: null,
      },
    ],
    deliveryGaps: [
      {
        transport: 'websocket' as const,
        source: 'socket of 77',
        from: time,
        until: null,
        lost: null,
        reason: 'network error',
      },
    ],
    lastError: { at: time, message: 'no answer' },
  };

  it('returns all known values', () => {
    expect(toPlatformStatus(status)).toEqual({
      platform: 'twitch',
      credentials: { present: true, valid: true, token_expires: printed },
      budget: { limit: 800, remaining: 641, blocked_until: printed },
      circuit: 'open',
      subscriptions: { enabled: 240, limit_reached: 6 },
      cost: { total: 240, max: 10_000 },
      streamers: { monitored: 123, subscribed: 120, polled_only: 3 },
      transport: {
        method: 'conduit',
        moved: 120,
        total: 400,
        problem: null,
        conduit: {
          id: 'a-conduit',
          shards: [{ id: 0, state: 'enabled', status: 'enabled', holder: 'host:1', since: printed }],
        },
      },
      callback: status.callback,
      webhook_secret: { moved: 120, total: 400, can_remove_others: false, problem: null },
      alarms: [
        {
          id: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
          key: 'shard_lost:3',
          kind: 'shard_lost',
          subject: '3',
          message: 'A shard is lost.',
          raised: '2025-11-21T04:40:00+0000',
          cleared: null,
        },
      ],
      delivery_gaps: [
        {
          transport: 'websocket',
          source: 'socket of 77',
          from: printed,
          until: null,
          lost: null,
          reason: 'network error',
        },
      ],
      last_error: { at: printed, message: 'no answer' },
    });
  });

  it('returns null for unknown values', () => {
    const nothing = {
      ...status,
      platform: 'none' as const,
      credentials: { present: false, valid: null, tokenExpiresAt: null },
      budget: null,
      cost: null,
      callback: null,
      webhookSecret: null,
      alarms: [],
      deliveryGaps: [],
      lastError: null,
    };

    expect(toPlatformStatus(nothing)).toMatchObject({
      credentials: { present: false, valid: null, token_expires: null },
      budget: null,
      cost: null,
      callback: null,
      webhook_secret: null,
      alarms: [],
      delivery_gaps: [],
      last_error: null,
    });
  });

  it('returns no unknown fields, which could be secrets', () => {
    const leaky = { ...status, credentials: { ...status.credentials, secret: 'hush' }, token: 'hush' };

    expect(JSON.stringify(toPlatformStatus(leaky))).not.toContain('hush');
  });
});
