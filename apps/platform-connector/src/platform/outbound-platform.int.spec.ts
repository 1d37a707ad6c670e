import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import type { NewSubscription } from '@stream-events/platforms';

const webhook = {
  method: 'webhook',
  callback: 'https://events.example/api/v1/platform-events/webhook',
  secret: 'a-secret-of-the-webhook',
} as const;

const wanted: NewSubscription = {
  type: 'stream.online',
  version: '1',
  condition: { broadcaster_user_id: '1001' },
  transport: webhook,
};

const subscription = {
  id: 'sub-1',
  status: 'enabled',
  type: 'stream.online',
  version: '1',
  condition: { broadcaster_user_id: '1001', moderator_user_id: '' },
  created_at: '2026-01-02T03:04:05.678901234Z',
  transport: { method: 'webhook', callback: webhook.callback },
  cost: 1,
  something_new: { deep: true },
};

const stream = {
  id: '9001',
  user_id: '1001',
  user_login: 'ada',
  user_name: 'Ada',
  game_id: '7',
  game_name: 'Chess',
  type: 'live',
  title: 'Hello\u0000 \ud800there',
  viewer_count: 12,
  started_at: '2026-01-02T03:04:05Z',
  language: 'en',
  thumbnail_url: 'https://x/{width}x{height}.jpg',
  tag_ids: [],
  is_mature: true,
};

describe('OutboundPlatform', () => {
  let setup: ConnectorSetup;
  let instance: ConnectorInstance;
  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(async () => {
    instance = await setup.createInstance();
  });
  afterEach(() => setup.reset());
  afterAll(() => setup.stop());

  const answer = (name: string, status: number, body?: unknown): void => {
    setup.fake.answers.set(name, () => [status, body]);
  };
  const users = 'GET /api/users';
  const streams = 'GET /api/streams';
  const path = '/api/eventsub/subscriptions';

  describe('lookUpUsers', () => {
    it('looks up ids and logins in one call, with the application’s token', async () => {
      answer(users, 200, { data: [{ id: '1001', login: 'ada', display_name: 'Ada', new_field: 1 }] });
      const found = await instance.platform.lookUpUsers(['1001', '1002'], ['Grace'], 'interactive');

      expect(found).toEqual([{ id: '1001', login: 'ada', displayName: 'Ada' }]);
      const call = setup.fake.calls.find(({ name }) => name === users)!;
      expect([call.query.getAll('id'), call.query.getAll('login')]).toEqual([['1001', '1002'], ['grace']]);
      expect(call.headers).toMatchObject({
        authorization: `Bearer ${setup.fake.tokens[0]}`,
        'client-id': 'client-of-the-tests',
      });
    });

    it('makes no call for names that cannot exist', async () => {
      for (const login of ['', 'white space', 'x'.repeat(26), 'ümlaut', '&id=1', '\0']) {
        expect(await instance.platform.lookUpUsers([], [login], 'interactive')).toEqual([]);
      }

      expect(setup.fake.calls).toEqual([]);
    });

    it.each([
      ['no JSON object', []],
      ['no list', { data: 'x' }],
      ['a user without id', { data: [{ login: 'ada' }] }],
      ['a user without login', { data: [{ id: '1', login: null }] }],
    ])('rejects a reply with %s', async (_what, body) => {
      answer(users, 200, body);

      await expect(instance.platform.lookUpUsers(['1001'], [], 'interactive')).rejects.toMatchObject({
        name: 'PlatformUnavailableError',
        message: expect.stringContaining('malformed'),
      });
      expect((await instance.status.read()).lastError?.message).toContain('malformed');
    });

    it('includes the platform’s message when the platform rejects the call', async () => {
      answer(users, 400, { error: 'Bad Request', status: 400, message: 'the id is wrong' });

      await expect(instance.platform.lookUpUsers(['1001'], [], 'interactive')).rejects.toMatchObject({
        name: 'PlatformUnavailableError',
        message: 'The platform rejected the call with status 400: the id is wrong',
      });
    });
  });

  describe('lookUpStreams', () => {
    it('returns who is live, in text that can be stored, and the time of the request', async () => {
      answer(streams, 200, { data: [stream], pagination: {} });
      const before = Date.now();
      const reply = await instance.platform.lookUpStreams(['1001', '1002']);

      expect(reply.streams).toEqual([
        {
          id: '9001',
          userId: '1001',
          userLogin: 'ada',
          userName: 'Ada',
          gameId: '7',
          gameName: 'Chess',
          type: 'live',
          title: 'Hello \ufffdthere',
          viewerCount: 12,
          startedAt: Date.parse('2026-01-02T03:04:05Z'),
          language: 'en',
          thumbnailUrl: 'https://x/{width}x{height}.jpg',
          tagIds: null,
          isMature: true,
        },
      ]);
      expect(reply.askedAt).toBeGreaterThanOrEqual(before);
      expect(reply.askedAt).toBeLessThanOrEqual(Date.now());
      const { query } = setup.fake.calls.find(({ name }) => name === streams)!;
      expect([query.get('first'), query.getAll('user_id')]).toEqual(['100', ['1001', '1002']]);
    });

    it('accepts missing optional fields', async () => {
      const { id, user_id, user_login, started_at } = stream;
      answer(streams, 200, { data: [{ id, user_id, user_login, started_at, tag_ids: ['a', 'b'] }] });
      const reply = await instance.platform.lookUpStreams(['1001']);

      expect(reply.streams).toEqual([
        expect.objectContaining({
          userName: 'ada',
          title: '',
          viewerCount: 0,
          isMature: false,
          tagIds: 'a,b',
        }),
      ]);
    });

    it('rejects the whole reply when one stream is malformed', async () => {
      answer(streams, 200, { data: [stream, { ...stream, started_at: 'yesterday' }] });

      await expect(instance.platform.lookUpStreams(['1001'])).rejects.toThrow(/started_at is not a time/);
    });

    it('makes no call without ids, because the platform would list any streams', async () => {
      expect((await instance.platform.lookUpStreams([])).streams).toEqual([]);
      expect(setup.fake.calls).toEqual([]);
    });
  });

  describe('listSubscriptions', () => {
    it('reads all pages', async () => {
      setup.fake.answers.set(`GET ${path}`, ({ query }) => {
        const after = query.get('after');
        const id = after ?? 'first';
        const pagination = after === null ? { cursor: 'second page' } : {};
        return [200, { data: [{ ...subscription, id }], pagination, total_cost: 2, max_total_cost: 10_000 }];
      });
      const one = await instance.platform.listSubscriptions();
      const two = await instance.platform.listSubscriptions(one.next ?? '');

      expect(one).toEqual({
        subscriptions: [
          {
            id: 'first',
            status: 'enabled',
            type: 'stream.online',
            version: '1',
            condition: { broadcaster_user_id: '1001' },
            cost: 1,
            transport: { method: 'webhook', callback: webhook.callback },
          },
        ],
        next: 'second page',
        totalCost: 2,
        maxTotalCost: 10_000,
      });
      expect([two.subscriptions[0]?.id, two.next]).toEqual(['second page', null]);
    });

    it('reads a subscription without a cost', async () => {
      const { cost: _cost, ...rest } = subscription;
      const other = { ...rest, status: 'a_new_status' };
      answer(`GET ${path}`, 200, { data: [other], total_cost: 0, max_total_cost: 10_000 });

      expect((await instance.platform.listSubscriptions()).subscriptions).toEqual([
        expect.objectContaining({ status: 'a_new_status', cost: 0 }),
      ]);
    });

    it.each([
      [
        { method: 'conduit', conduit_id: 'c' },
        { method: 'conduit', conduitId: 'c' },
      ],
      [
        { method: 'websocket', session_id: 's', connected_at: '2026-01-02T03:04:05Z' },
        { method: 'websocket', sessionId: 's' },
      ],
      [{ method: 'a_new_method' }, null],
    ])('reads the transport %j', async (sent, transport) => {
      const other = { ...subscription, transport: sent };
      answer(`GET ${path}`, 200, { data: [other], total_cost: 0, max_total_cost: 10_000 });

      expect((await instance.platform.listSubscriptions()).subscriptions).toMatchObject([{ transport }]);
    });

    it('rejects a malformed page', async () => {
      answer(`GET ${path}`, 200, {
        data: [{ ...subscription, condition: null }],
        total_cost: 0,
        max_total_cost: 1,
      });

      await expect(instance.platform.listSubscriptions()).rejects.toThrow(/malformed/);
    });
  });

  describe('createSubscription', () => {
    it('sends the subscription to create', async () => {
      answer(`POST ${path}`, 202, {
        data: [{ ...subscription, status: 'webhook_callback_verification_pending' }],
      });

      expect(await instance.platform.createSubscription(wanted)).toMatchObject({
        kind: 'created',
        subscription: { id: 'sub-1', status: 'webhook_callback_verification_pending', cost: 1 },
      });
      const call = setup.fake.calls.find(({ name }) => name === `POST ${path}`)!;
      expect(call.headers['content-type']).toBe('application/json');
      expect(JSON.parse(call.body)).toEqual({
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: '1001' },
        transport: webhook,
      });
    });

    it.each([
      [
        { method: 'conduit', conduitId: 'c' },
        { method: 'conduit', conduit_id: 'c' },
      ],
      [
        { method: 'websocket', sessionId: 's' },
        { method: 'websocket', session_id: 's' },
      ],
    ] as const)('sends the transport %j', async (transport, sent) => {
      answer(`POST ${path}`, 202, { data: [subscription] });
      await instance.platform.createSubscription({ ...wanted, transport });

      const call = setup.fake.calls.find(({ name }) => name === `POST ${path}`)!;
      expect(JSON.parse(call.body)).toMatchObject({ transport: sent });
    });

    const message = "the platform's message";
    it.each([
      [409, { message, id: 'sub-7' }, { kind: 'exists', id: 'sub-7' }],
      [409, { message }, { kind: 'exists', id: null }],
      [429, { message }, { kind: 'limit_reached', message }],
      [400, { message }, { kind: 'refused', status: 400, message }],
      [403, { message }, { kind: 'refused', status: 403, message }],
      [410, undefined, { kind: 'refused', status: 410, message: 'no reason given' }],
    ])('treats status %d as an outcome', async (status, body, outcome) => {
      answer(`POST ${path}`, status, body);

      expect(await instance.platform.createSubscription(wanted)).toEqual(outcome);
      expect(setup.fake.count(`POST ${path}`)).toBe(1);
    });

    it('does not treat a 404 as an outcome, because another server must have sent it', async () => {
      await expect(instance.platform.createSubscription(wanted)).rejects.toThrow(/status 404/);
    });

    it('rejects a reply without a subscription', async () => {
      answer(`POST ${path}`, 202, { data: [] });

      await expect(instance.platform.createSubscription(wanted)).rejects.toThrow(/malformed/);
    });
  });

  describe('deleteSubscription', () => {
    it.each([204, 404])('treats status %d as deleted', async (status) => {
      answer(`DELETE ${path}`, status);
      await instance.platform.deleteSubscription('sub 1&2');

      expect(setup.fake.calls.at(-1)?.query.get('id')).toBe('sub 1&2');
    });

    it('fails for any other status', async () => {
      answer(`DELETE ${path}`, 400, { message: 'no id' });

      await expect(instance.platform.deleteSubscription('x')).rejects.toThrow(/status 400: no id/);
    });
  });

  describe('createConduit', () => {
    const conduits = '/api/eventsub/conduits';

    it('makes one attempt, because without a reply, the platform may have created a conduit', async () => {
      setup.fake.fault = (call, response) => {
        if (call.name !== `POST ${conduits}`) return false;
        response.destroy();
        return true;
      };

      await expect(instance.platform.createConduit(2)).rejects.toThrow(/connection to the platform failed/);
      expect(setup.fake.count(`POST ${conduits}`)).toBe(1);
    });
  });

  it('does not exist without a platform', async () => {
    const { platform, status } = await setup.createInstance({ PLATFORM: 'none' });

    await expect(platform.lookUpUsers(['1'], [], 'interactive')).rejects.toMatchObject({
      name: 'PlatformUnavailableError',
    });
    await expect(platform.deleteSubscription('x')).rejects.toThrow(/PLATFORM is none/);
    expect(await status.read()).toMatchObject({ platform: 'none', budget: null, circuit: 'closed' });
    expect(setup.fake.calls).toEqual([]);
  });
});
