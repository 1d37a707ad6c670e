import { jest } from '@jest/globals';
import { eventTypes } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import type { Problem } from './api.js';
import { SimulatedPlatform } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

interface SubscriptionRecord {
  id: string;
  subscription_id: string | null;
  type: string;
  version: string;
  condition: Record<string, string>;
  status: string;
  reason: string | null;
  cost: number | null;
}

interface SubscriptionPage {
  count: number;
  next: string | null;
  previous: string | null;
  results: SubscriptionRecord[];
}

interface EventTypeRecord {
  type: string;
  version: string;
  active: boolean;
  status: string;
  condition: string[];
  scopes: string[][];
}

const subscriptionsPath = '/api/v1/platform/subscriptions';
const typesPath = '/api/v1/platform/event-types';
const settled = { timeoutMs: 60_000 };
// After the platform rejects a subscription because of a limit, the connector lists the subscriptions again within 30 s.
const relisted = { timeoutMs: 90_000 };

// Each test waits several times for the connector.
jest.setTimeout(240_000);

describe('platform API', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  afterAll(() => stack.stop());

  const subscriptionsOf = async (userId: string, query = ''): Promise<SubscriptionRecord[]> => {
    const found: SubscriptionRecord[] = [];
    let url: string | null = `${subscriptionsPath}?page_size=100${query}`;
    while (url !== null) {
      const { json }: { json: SubscriptionPage } = await stack.request<SubscriptionPage>('GET', url);
      found.push(...json.results);
      url = json.next;
    }
    return found.filter(({ condition }) => Object.values(condition).includes(userId));
  };

  const untilEnabled = (userId: string, type: string): Promise<SubscriptionRecord> =>
    eventually(async () => {
      const found = (await subscriptionsOf(userId)).find((subscription) => subscription.type === type);
      expect(found).toMatchObject({ status: 'enabled', subscription_id: expect.any(String) });
      return found!;
    }, settled);

  it('shows a subscription of each active type for a streamer, and filters them by status', async () => {
    const user = await platform.addUser();
    await monitorStreamer(stack, user.login);
    const online = await untilEnabled(user.id, 'stream.online');
    expect(online).toMatchObject({ version: '1', condition: { broadcaster_user_id: user.id }, reason: null });
    await untilEnabled(user.id, 'stream.offline');
    expect(await subscriptionsOf(user.id, '&status=enabled')).not.toEqual([]);
    expect(await subscriptionsOf(user.id, '&status=nonsense')).toEqual([]);
  });

  it('recreates a subscription after a revocation, and stores the revocation as an event', async () => {
    const user = await platform.addUser();
    await monitorStreamer(stack, user.login);
    const before = await untilEnabled(user.id, 'stream.online');
    await stack.simulate('POST', '/simulator/revocations', {
      subscription_id: before.subscription_id,
      status: 'authorization_revoked',
    });
    await eventually(
      async () => {
        const after = await untilEnabled(user.id, 'stream.online');
        expect(after.subscription_id).not.toBe(before.subscription_id);
      },
      { timeoutMs: 120_000 },
    );
    const { json } = await stack.request<{ results: { event_data: { id: string } }[] }>(
      'GET',
      '/api/v1/platform-events?event_type=subscription-revocation&page_size=100',
    );
    expect(json.results.map(({ event_data }) => event_data.id)).toContain(before.subscription_id);
  });

  it('lists all event types with their requirements', async () => {
    const { status, json } = await stack.request<EventTypeRecord[]>('GET', typesPath);
    expect(status).toBe(200);
    expect(json).toHaveLength(eventTypes.length);
    expect(json.find(({ type }) => type === 'stream.online')).toMatchObject({
      version: '1',
      condition: ['broadcaster_user_id'],
      scopes: [],
      description: expect.any(String),
      active: true,
      status: expect.any(String),
    });
  });

  it('describes the events of a type with a schema and an example', async () => {
    for (const name of ['stream.online', 'stream-online', 'stream.online?version=1'])
      expect((await stack.request('GET', `${typesPath}/${name}`)).json).toMatchObject({
        type: 'stream.online',
        schema: { title: 'stream.online version 1', properties: { broadcaster_user_id: { type: 'string' } } },
        example: { broadcaster_user_id: expect.any(String) },
      });
    for (const name of ['nothing', 'stream.online?version=9', '%00', '__proto__'])
      expect((await stack.request('GET', `${typesPath}/${name}`)).status).toBe(404);
  });

  it('creates a subscription for every streamer when a type is activated, and deletes them when it is deactivated', async () => {
    const user = await platform.addUser();
    await monitorStreamer(stack, user.login);
    const path = `${typesPath}/channel.goal.begin`;
    const on = await stack.request('PUT', path, { body: { active: true } });
    expect(on).toMatchObject({ status: 200, json: { type: 'channel.goal.begin', active: true } });
    await untilEnabled(user.id, 'channel.goal.begin');
    expect(
      await stack.request('PUT', `${typesPath}/channel-goal-begin/`, { body: { active: false } }),
    ).toMatchObject({
      json: { active: false },
    });
    await eventually(async () => {
      const types = (await subscriptionsOf(user.id)).map(({ type }) => type);
      expect(types).not.toContain('channel.goal.begin');
    }, settled);
  });

  it('rejects unknown types, types that cannot be activated, and invalid requests', async () => {
    const put = (type: string, body: unknown) =>
      stack.request<Problem>('PUT', `${typesPath}/${type}`, { body });
    expect((await put('no.such.type', { active: true })).status).toBe(404);
    expect((await put('drop.entitlement.grant', { active: true })).status).toBe(409);
    expect(await put('channel.follow', { active: 'yes' })).toMatchObject({
      status: 400,
      json: { errors: { active: expect.any(Array) } },
    });
  });

  it('returns the status of the platform without secrets', async () => {
    await untilEnabled((await addMonitored()).id, 'stream.online');
    const { status, json, text } = await stack.request('GET', '/api/v1/platform/status');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      platform: 'simulator',
      credentials: { present: true, valid: true },
      budget: { limit: 800, remaining: expect.any(Number) },
      circuit: 'closed',
      cost: { total: expect.any(Number), max: 10_000 },
      streamers: { monitored: expect.any(Number) },
    });
    expect(text).not.toContain('the secret of the application');
  });

  it('shows and respects the limit of the platform', async () => {
    const { json: status } = await stack.request<{ cost: { total: number } }>(
      'GET',
      '/api/v1/platform/status',
    );
    await platform.setLimits({ max_total_cost: status.cost.total + 2 });
    const users = [await addMonitored(), await addMonitored(), await addMonitored()];
    await eventually(async () => {
      const last = await subscriptionsOf(users[2]!.id);
      expect(last.some(({ status: s, reason }) => s === 'limit_reached' && reason !== null)).toBe(true);
    }, settled);
    // The connector first deletes the subscriptions above the limit.
    await eventually(async () => {
      const { json } = await stack.request<{
        cost: { total: number; max: number };
        streamers: { polled_only: number };
      }>('GET', '/api/v1/platform/status');
      expect(json.cost.max).toBe(status.cost.total + 2);
      expect(json.cost.total).toBeLessThanOrEqual(json.cost.max);
      expect(json.streamers.polled_only).toBeGreaterThan(0);
    }, relisted);
    await platform.setLimits({ max_total_cost: 10_000 });
  });

  const addMonitored = async () => {
    const user = await platform.addUser();
    await monitorStreamer(stack, user.login);
    return user;
  };
});
