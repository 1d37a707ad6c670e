import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import type { Answer, EventPage, Problem } from './api.js';
import { exchange, expectSound, printRequest, type RawAnswer } from './raw-http.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

const base = '/api/v1/platform/call';
const settled = { timeoutMs: 60_000 };

// A test sends 200 requests in sequence.
jest.setTimeout(300_000);

describe('calls of the platform’s API', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let user: SimulatedUser;
  let memberToken: string;

  beforeAll(async () => {
    stack = await startStack({ platform: true, gateways: 1, environment: { SIMULATOR_GRANTS: 'everyone' } });
    platform = new SimulatedPlatform(stack);
    user = await platform.addUser();
    memberToken = (await stack.registerUser()).token;
  }, startLimitMs);

  afterAll(() => stack.stop());

  const tokenWith = async (...scopes: string[]): Promise<string> => {
    const body = { name: scopes.join(' '), scopes };
    return (await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body })).json.key;
  };

  /** Sends exactly this path. An HTTP client would normalize it. */
  const sendRaw = (method: string, path: string): Promise<RawAnswer> => {
    const headers = [['Authorization', `Token ${stack.ownerToken}`]] as const;
    return exchange(stack.gateway.url, printRequest({ method, target: `${base}/${path}`, headers }));
  };

  const chat = (
    token: string,
    message: string,
    sender = user,
  ): Promise<Answer<Problem & { data: object[] }>> =>
    stack.request('POST', `${base}/chat/messages`, {
      token,
      body: { broadcaster_id: user.id, sender_id: sender.id, message },
    });

  it.each([base, '/api/platform', '/api/twitch/helix'])('reads by %s', async (prefix) => {
    const path = `${prefix}/users?login=${user.login}&id=1`;
    const answer = await stack.request<{ data: object[] }>('GET', path, { token: memberToken });

    expect([answer.status, answer.json.data]).toEqual([200, [expect.objectContaining({ id: user.id })]]);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('ratelimit-remaining')).toMatch(/^\d+$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await stack.request('GET', `${prefix}/channels/?broadcaster_id=${user.id}`)).status).toBe(200);
    expect((await stack.request('HEAD', path)).status).toBe(200);
  });

  it('return the platform’s bytes', async () => {
    const { body } = await sendRaw('GET', `users?id=${user.id}`);
    expect(body).toMatch(/^\{.*\}$/);
  });

  it('passes on the platform’s errors as they are', async () => {
    const { status, json } = await stack.request<Problem>('GET', `${base}/users`);

    expect([status, json]).toEqual([400, { error: 'Bad Request', status: 400, message: expect.any(String) }]);
  });

  it(
    'sends a chat message, which arrives as an event',
    async () => {
      await monitorStreamer(stack, user.login);
      const token = await tokenWith('platform:call');
      await eventually(async () => {
        const { json } = await stack.request<{ results: object[] }>(
          'GET',
          '/api/v1/platform/subscriptions?page_size=100&status=enabled',
        );
        expect(json.results).toContainEqual(
          expect.objectContaining({
            type: 'channel.chat.message',
            condition: expect.objectContaining({ broadcaster_user_id: user.id }),
          }),
        );
      }, settled);
      const message = 'Hello from the API 👋 "quoted"';
      const { status, json } = await chat(token, message);

      expect([status, json.data]).toEqual([200, [expect.objectContaining({ is_sent: true })]]);
      const query = `event_type=channel-chat-message&user_id=${user.id}`;
      await eventually(async () => {
        const page = (await stack.request<EventPage>('GET', `/api/v1/platform-events?${query}`)).json;
        expect(page.results[0]?.event_data).toMatchObject({
          broadcaster_user_id: user.id,
          message: { text: message },
        });
      }, settled);
    },
    startLimitMs,
  );

  it('needs an owner, or an owner’s named token with platform:call, to write', async () => {
    const reader = await tokenWith('platform:read');
    const caller = await tokenWith('platform:call');

    expect((await chat(memberToken, 'a')).status).toBe(403);
    expect((await chat(reader, 'b')).json.detail).toContain('platform:call');
    expect((await stack.request('GET', `${base}/users?id=1`, { token: reader })).status).toBe(403);
    expect((await stack.request('GET', `${base}/streams/key`, { token: memberToken })).status).toBe(403);
    expect((await stack.request('GET', `${base}/users?id=1`, { token: null })).status).toBe(401);
    const body = { name: 'mine', scopes: ['platform:call'] };
    const mine = await stack.request<{ key: string }>('POST', '/api/v1/tokens', { token: memberToken, body });
    expect((await chat(mine.json.key, 'e')).status).toBe(403);
    const { key: token } = mine.json;
    expect((await stack.request('GET', `${base}/streams/key`, { token })).status).toBe(403);
    expect((await stack.request('GET', `${base}/users?id=1`, { token })).status).toBe(200);
    expect((await chat(caller, 'c')).status).toBe(200);
    expect((await chat(stack.ownerToken, 'd')).status).toBe(200);
  });

  it('lets only owners delete conduits, which can belong to other installations, and records this', async () => {
    const { json: conduits } = await stack.simulate<{ data: { id: string }[] }>(
      'POST',
      '/helix/eventsub/conduits',
      { shard_count: 1 },
    );
    const path = `${base}/eventsub/conduits?id=${conduits.data[0]?.id}`;
    const caller = await tokenWith('platform:call');

    expect((await stack.request('DELETE', path, { token: caller })).status).toBe(403);
    expect((await stack.request('DELETE', path, { token: memberToken })).status).toBe(403);
    expect(await stack.request('DELETE', path)).toMatchObject({ status: 204, text: '' });
    const { status, json } = await stack.request<{ message?: string }>('DELETE', path);
    // The platform itself answers that it does not know the conduit.
    expect([status, typeof json.message]).toEqual([404, 'string']);
    // The log has no entry of the failed deletion, and none of the chat messages of other tests.
    await eventually(async () => {
      const { json: log } = await stack.request<{ results: { object_id: string }[] }>(
        'GET',
        '/api/v1/audit-log?action=platform_call.sent',
      );
      expect(log.results.map(({ object_id }) => object_id)).toEqual(['DELETE eventsub/conduits']);
    }, settled);
  });

  it('explains whose token is missing', async () => {
    const { status, json } = await stack.request<Problem>('POST', `${base}/polls`, {
      body: { broadcaster_id: user.id, title: 'Which game?' },
    });

    expect([status, json.errors?.connection]).toEqual([
      400,
      [expect.stringContaining('no channel is connected')],
    ]);
    const named = await stack.request<Problem>('GET', `${base}/users?connection=${crypto.randomUUID()}`);
    expect([named.status, named.json.errors]).toEqual([
      400,
      { connection: [expect.stringContaining('not the id')] },
    ]);
  });

  it('does not resolve dot segments, also not encoded ones, to another route', async () => {
    const body = { name: 'still here', scopes: ['events:read'] };
    const { json: token } = await stack.request<{ id: string }>('POST', '/api/v1/tokens', { body });
    const target = `tokens/${token.id}`;
    for (const path of [
      `../../${target}`,
      `%2e%2e/%2E%2E/${target}`,
      `.%2e/%2e./${target}`,
      `polls/../../../${target}`,
      `..\\..\\${target}`,
      './polls',
      '%2e/polls',
      `%252e%252e/%252e%252e/${target}`,
    ]) {
      const answer = await sendRaw('DELETE', path);
      expect([path, answer.status]).toEqual([path, 404]);
      expectSound(answer);
    }
    expect((await stack.request('GET', `/api/v1/${target}`)).status).toBe(200);
  });

  describe('pictures', () => {
    const fetchPicture = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${stack.gateway.url}/api/v1/platform/${path}`, {
        headers: { authorization: `Token ${memberToken}`, ...headers },
      });

    it.each([() => `users/${user.id}/picture`, () => 'categories/509658/picture'])(
      'of a user and a category',
      async (path) => {
        const first = await fetchPicture(path());
        const bytes = Buffer.from(await first.arrayBuffer());
        const etag = first.headers.get('etag') ?? '';

        expect([first.status, first.headers.get('content-type')]).toEqual([200, 'image/png']);
        expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
        expect(first.headers.get('x-content-type-options')).toBe('nosniff');
        expect(first.headers.get('cache-control')).toBe('private, max-age=86400');
        const again = await fetchPicture(path(), { 'if-none-match': etag });
        expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag]);
        expect((await fetchPicture(path(), { 'if-none-match': '"another"' })).status).toBe(200);
      },
    );

    it('are missing for unknown and malformed ids, and for clients without a token', async () => {
      for (const path of [
        'users/1/picture',
        'users/%00/picture',
        'users/..%2F1/picture',
        'categories/1/picture',
      ])
        expect([path, (await fetchPicture(path)).status]).toEqual([path, 404]);
      expect((await fetchPicture(`users/${user.id}/picture`, { authorization: '' })).status).toBe(401);
    });
  });
});
