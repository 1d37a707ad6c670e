import { eventually } from '@stream-events/testing';
import type { Problem } from './api.js';
import { describeWithBrowser } from './browser/describe-with-browser.js';
import { WebPage } from './browser/web-page.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

interface ConnectionRecord {
  id: string;
  state: string;
  role: string;
  platform_id: string | null;
  platform_username: string | null;
  scopes: string[];
  permissions: string[];
  user_code: string | null;
  verification_uri: string | null;
  remedy: string | null;
}

const path = '/api/v1/platform/connections';
const settled = { timeoutMs: 90_000 };
// Test limit that covers all waits of a test.
const limitMs = 400_000;

describe('connections to channels', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true, environment: { SIMULATOR_GRANTS: 'explicit' } });
    platform = new SimulatedPlatform(stack);
    await platform.setLimits({ device_interval_seconds: 1 });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const start = async (body?: object): Promise<ConnectionRecord> => {
    const answer = await stack.request<ConnectionRecord>('POST', path, body && { body });
    expect([answer.status, answer.headers.get('location')]).toEqual([201, `${path}/${answer.json.id}`]);
    return answer.json;
  };

  const untilState = (id: string, state: string): Promise<ConnectionRecord> =>
    eventually(async () => {
      const { json } = await stack.request<ConnectionRecord>('GET', `${path}/${id}`);
      expect(json.state).toBe(state);
      return json;
    }, settled);

  const connect = async ({ login }: SimulatedUser): Promise<ConnectionRecord> => {
    const { id, user_code } = await start();
    await platform.decide(user_code ?? '', { decision: 'allow', login });
    return untilState(id, 'connected');
  };

  /** Returns the statuses of a streamer's cheer subscriptions. Cheers need consent. */
  const cheers = async (userId: string): Promise<string[]> => {
    const { json } = await stack.request<{
      results: { type: string; status: string; condition: Record<string, string> }[];
    }>('GET', '/api/v1/platform/subscriptions?page_size=100');
    return json.results
      .filter(({ type, condition }) => type === 'channel.cheer' && condition.broadcaster_user_id === userId)
      .map(({ status }) => status);
  };

  /** Returns the consent state of a channel's cheers, such as `granted`. */
  const consentOf = async (userId: string): Promise<string | undefined> => {
    const { json } = await stack.request<{ states: Record<string, string> }[]>(
      'GET',
      `/api/v1/platform/consent?channel_ids=${userId}`,
    );
    return json[0]?.states['channel-cheer'];
  };

  it(
    'asks for the scopes of the active event types, and subscribes to what was not granted before',
    async () => {
      const user = await platform.addUser();
      await monitorStreamer(stack, user.login);
      await eventually(async () => expect(await cheers(user.id)).toEqual(['not_granted']), settled);
      expect(await consentOf(user.id)).toBe('missing');

      const pending = await start();
      expect(pending).toMatchObject({ state: 'pending', platform_id: null, user_code: expect.any(String) });
      expect(pending.verification_uri).toContain('http');
      expect(pending.scopes).toContain('bits:read');
      await platform.decide(pending.user_code ?? '', { decision: 'allow', login: user.login });

      expect(await untilState(pending.id, 'connected')).toMatchObject({
        platform_id: user.id,
        platform_username: user.login,
        scopes: expect.arrayContaining(['bits:read']),
        user_code: null,
        verification_uri: null,
      });
      await eventually(async () => expect(await cheers(user.id)).toEqual(['enabled']), settled);
      expect(await consentOf(user.id)).toBe('granted');
    },
    limitMs,
  );

  it(
    'asks for further scopes, so that the channel’s owner can write chat messages',
    async () => {
      const user = await platform.addUser();
      const { id, scopes, permissions, user_code } = await start({ scopes: ['user:write:chat'] });
      expect(scopes).toEqual(expect.arrayContaining(['bits:read', 'user:write:chat']));
      expect(permissions[scopes.indexOf('user:write:chat')]).toMatch(/chat/i);
      await platform.decide(user_code ?? '', { decision: 'allow', login: user.login });
      await untilState(id, 'connected');

      const message = { broadcaster_id: user.id, sender_id: user.id, message: 'Hello, chat!' };
      const call = `/api/v1/platform/call/chat/messages?connection=${id}`;
      const sent = await stack.request<{ data: object[] }>('POST', call, { body: message });
      expect(sent.json.data).toMatchObject([{ is_sent: true }]);

      const before = (await stack.request<object[]>('GET', path)).json.length;
      for (const wrong of [['chat:write'], 'user:write:chat', [7], null, ['user:bot', 'user:bot']]) {
        const { status, json } = await stack.request<Problem>('POST', path, { body: { scopes: wrong } });
        expect([status, Object.keys(json.errors ?? {})]).toEqual([400, ['scopes']]);
      }
      expect((await stack.request<object[]>('GET', path)).json).toHaveLength(before);
    },
    limitMs,
  );

  it(
    'monitors a channel that connects',
    async () => {
      const user = await platform.addUser();
      await connect(user);
      await eventually(async () => {
        const { json } = await stack.request<{ platform_id: string }[]>('GET', '/api/v1/streamers');
        expect(json.map(({ platform_id }) => platform_id)).toContain(user.id);
      }, settled);
    },
    limitMs,
  );

  it(
    'deletes a connection, revokes its token, and leaves entries in the audit log',
    async () => {
      const { id } = await connect(await platform.addUser());
      expect((await stack.request('DELETE', `${path}/${id}`)).status).toBe(204);
      await eventually(async () => {
        const { json } = await stack.request<{ results: { action: string; object_id: string }[] }>(
          'GET',
          '/api/v1/audit-log?page_size=100',
        );
        const entries = json.results.filter(({ object_id }) => object_id === id);
        expect(entries.map(({ action }) => action).sort()).toEqual([
          'connection.completed',
          'connection.removed',
          'connection.started',
        ]);
      }, settled);
      expect((await stack.request('GET', `${path}/${id}`)).status).toBe(404);
      expect(Object.entries(await platform.requests()).filter(([name]) => name.includes('revoke'))).toEqual([
        [expect.any(String), 1],
      ]);
    },
    limitMs,
  );

  it(
    'shows within a minute that a user has withdrawn the consent, and disturbs no other connection',
    async () => {
      const [user, other] = [await platform.addUser(), await platform.addUser()];
      const [left, kept] = [await connect(user), await connect(other)];
      await eventually(async () => expect(await cheers(user.id)).toEqual(['enabled']), settled);
      await eventually(async () => expect(await cheers(other.id)).toEqual(['enabled']), settled);

      await platform.disconnect(user.login);
      expect((await untilState(left.id, 'reconnect_needed')).remedy).toContain('Connect the channel again');
      await eventually(async () => expect(await cheers(user.id)).toEqual(['not_granted']), settled);
      expect(await cheers(other.id)).toEqual(['enabled']);
      expect([await consentOf(user.id), await consentOf(other.id)]).toEqual(['revoked', 'granted']);
      await untilState(kept.id, 'connected');
    },
    limitMs,
  );

  it(
    'subscribes a streamer only to the event types that were chosen for it',
    async () => {
      const user = await platform.addUser();
      await connect(user);
      await eventually(async () => expect(await cheers(user.id)).toEqual(['enabled']), settled);
      const { json } = await stack.request<{ id: string; platform_id: string }[]>('GET', '/api/v1/streamers');
      const url = `/api/v1/streamers/${json.find(({ platform_id }) => platform_id === user.id)?.id}/event-types`;
      expect((await stack.request('GET', url)).json).toEqual({ event_types: null });

      const put = (event_types: unknown) => stack.request('PUT', url, { body: { event_types } });
      expect((await put(['channel.follow', 'stream-online'])).json).toEqual({
        event_types: ['channel-follow', 'stream-online'],
      });
      await eventually(async () => expect(await cheers(user.id)).toEqual([]), settled);
      for (const wrong of [['nonsense'], 'channel-follow', [7], undefined])
        expect((await put(wrong)).status).toBe(400);
      expect((await stack.request('GET', url)).json).toEqual({
        event_types: ['channel-follow', 'stream-online'],
      });
      expect((await put(null)).json).toEqual({ event_types: null });
      await eventually(async () => expect(await cheers(user.id)).toEqual(['enabled']), settled);
    },
    limitMs,
  );

  it('lists the consent of the channels that were asked for, and refuses other ids', async () => {
    const path = '/api/v1/platform/consent';
    const { json } = await stack.request('GET', `${path}?channel_ids=unknown-1,unknown-2`);
    expect(json).toEqual([
      { channel_id: 'unknown-1', event_types: null, states: {} },
      { channel_id: 'unknown-2', event_types: null, states: {} },
    ]);
    const tooMany = Array.from({ length: 51 }, (_, index) => index).join(',');
    for (const query of [
      '',
      '?channel_ids=',
      '?channel_ids=1,,2',
      '?channel_ids=%00',
      `?channel_ids=${tooMany}`,
    ])
      expect((await stack.request('GET', `${path}${query}`)).status).toBe(400);
  });

  describeWithBrowser('in a browser', (browserPath) => {
    let page: WebPage;
    beforeEach(async () => {
      page = await WebPage.open(browserPath);
    }, limitMs);
    afterEach(() => page.close());

    it(
      'connects a channel by device code',
      async () => {
        const user = await platform.addUser();
        const { id, verification_uri } = await start();
        expect(await page.giveConsent(verification_uri ?? '', user.login)).toContain('now has access');
        expect(await untilState(id, 'connected')).toMatchObject({ platform_username: user.login });
      },
      limitMs,
    );

    it(
      'connects a bot account by authorization code, which reads the chat of a channel',
      async () => {
        const [channel, bot] = [await platform.addUser(), await platform.addUser()];
        await connect(channel);
        const { id, verification_uri } = await start({ flow: 'authorization_code', role: 'bot' });
        expect(await page.giveConsent(verification_uri ?? '', bot.login)).toContain('Consent received');
        expect(await untilState(id, 'connected')).toMatchObject({
          role: 'bot',
          platform_username: bot.login,
        });

        await eventually(async () => {
          const { json } = await stack.request<{
            results: { type: string; status: string; condition: Record<string, string> }[];
          }>('GET', '/api/v1/platform/subscriptions?page_size=100');
          const chat = json.results.filter(
            ({ type, condition }) =>
              type === 'channel.chat.message' && condition.broadcaster_user_id === channel.id,
          );
          expect(chat).toMatchObject([{ status: 'enabled', condition: { user_id: bot.id } }]);
        }, settled);
        expect((await stack.request('DELETE', `${path}/${id}`)).status).toBe(204);
      },
      limitMs,
    );
  });

  it('accepts a return from the platform only with a valid state, and redirects nowhere', async () => {
    const { verification_uri } = await start({ flow: 'authorization_code' });
    const state = new URL(verification_uri ?? '').searchParams.get('state') ?? '';
    const back = (query: Record<string, string>, method = 'GET'): Promise<Response> =>
      fetch(`${stack.url}${path}/callback?${new URLSearchParams(query).toString()}`, {
        method,
        redirect: 'manual',
      });

    const forged = `${state.slice(0, 37)}${'A'.repeat(43)}`;
    for (const query of [
      {},
      { state: 'x' },
      { state: forged, code: 'x' },
      { state, code: '' },
      { code: 'x' },
    ])
      expect((await back(query as Record<string, string>)).status).toBe(400);
    // A link preview sends a HEAD request, which must not use up the state.
    expect((await back({ state, code: 'x' }, 'HEAD')).status).toBe(200);
    const refused = await back({ state, code: 'not-a-code', redirect_uri: 'https://evil.example' });
    expect([refused.status, refused.headers.get('location')]).toEqual([409, null]);
    expect((await back({ state, code: 'not-a-code' })).status).toBe(400);
  });
});
