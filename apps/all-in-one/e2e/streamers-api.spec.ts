import { problemType, type Problem } from './api.js';
import { SimulatedPlatform, uniqueLogin, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import {
  monitorStreamer,
  readStreamer,
  streamersPath,
  timeForm,
  type StreamerRecord,
} from './streamer-records.js';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const unknownId = '01999999-9999-7999-8999-999999999999';

describe('streamers API', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  afterAll(() => stack.stop());

  const create = (body: unknown, path = streamersPath) =>
    stack.request<StreamerRecord>('POST', path, { body });
  const refuse = (body: unknown) => stack.request<Problem>('POST', streamersPath, { body });
  const monitor = async (): Promise<{ user: SimulatedUser; streamer: StreamerRecord }> => {
    const user = await platform.addUser();
    return { user, streamer: await monitorStreamer(stack, user.login) };
  };

  describe('POST /api/v1/streamers', () => {
    it('responds with 201, the streamer with its id on the platform, and its URL', async () => {
      const user = await platform.addUser();
      const answer = await create({ platform_username: user.login, streaming: false, disabled: false });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        id: expect.stringMatching(uuid),
        platform_username: user.login,
        platform_id: user.id,
        streaming: false,
        disabled: false,
        created: expect.stringMatching(timeForm),
        updated: expect.stringMatching(timeForm),
      });
      expect(answer.headers.get('location')).toBe(`${streamersPath}/${answer.json.id}`);
      const read = await stack.request('GET', answer.headers.get('location') ?? '');
      expect(read).toMatchObject({ status: 200, text: answer.text });
    });

    it('trims the name, accepts it in any case, and keeps its spelling; booleans default to false', async () => {
      const user = await platform.addUser();
      const name = user.login.toUpperCase();
      const { status, json } = await create({ platform_username: `  ${name}\n` });
      expect(status).toBe(201);
      expect(json).toMatchObject({
        platform_username: name,
        platform_id: user.id,
        streaming: false,
        disabled: false,
      });
    });

    it('accepts the branded field for the name, and ignores read-only and unknown fields', async () => {
      const user = await platform.addUser();
      const body = {
        twitch_username: user.login,
        id: unknownId,
        platform_id: '1',
        created: 'x',
        colour: 'blue',
      };
      const { status, json } = await create(body, `${streamersPath}/`);
      expect(status).toBe(201);
      expect(json).toMatchObject({ platform_username: user.login, platform_id: user.id });
      expect(json.id).not.toBe(unknownId);
      expect(json).not.toHaveProperty('twitch_username');
    });

    it('rejects a user that does not exist on the platform, with an error on platform_username, and stores nothing', async () => {
      const before = await stack.count('streamer_monitor.streamers');
      const { status, headers, json } = await refuse({ platform_username: uniqueLogin() });
      expect(status).toBe(400);
      expect(headers.get('content-type')).toMatch(problemType);
      expect(Object.keys(json.errors ?? {})).toEqual(['platform_username']);
      expect(await stack.count('streamer_monitor.streamers')).toBe(before);
    });

    it('responds with 409 for a streamer who is already monitored, in any spelling and for simultaneous requests', async () => {
      const user = await platform.addUser();
      const names = [user.login, user.login.toUpperCase(), user.login, user.login];
      const answers = await Promise.all(names.map((platform_username) => create({ platform_username })));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
    });

    it.each([
      ['no name', {}],
      ['an empty name', { platform_username: ' ' }],
      ['65 characters', { platform_username: 'a'.repeat(65) }],
      ['an invalid character', { platform_username: 'a-b' }],
      ['a number', { platform_username: 5 }],
      ['null', { platform_username: null }],
    ])('rejects %s with 400 and an error on platform_username', async (_, body) => {
      const { status, json } = await refuse(body);
      expect(status).toBe(400);
      expect(Object.keys(json.errors ?? {})).toEqual(['platform_username']);
    });

    it('returns all errors in one response and coerces nothing', async () => {
      const { status, json } = await refuse({ platform_username: '', streaming: 'true', disabled: 1 });
      expect(status).toBe(400);
      expect(Object.keys(json.errors ?? {}).sort()).toEqual(['disabled', 'platform_username', 'streaming']);
    });
  });

  describe('GET /api/v1/streamers/<id>', () => {
    it.each([unknownId, 'nonsense', '1'])('responds with 404 to %s', async (id) => {
      for (const path of ['', '/streams', '/streams/latest', `/streams/${unknownId}/history`]) {
        const { status, headers } = await stack.request('GET', `${streamersPath}/${id}${path}`);
        expect(status).toBe(404);
        expect(headers.get('content-type')).toMatch(problemType);
      }
    });
  });

  describe('PUT and PATCH /api/v1/streamers/<id>', () => {
    it('disable and enable', async () => {
      const { streamer } = await monitor();
      const path = `${streamersPath}/${streamer.id}`;
      const disabled = await stack.request('PATCH', path, { body: { disabled: true } });
      expect(disabled).toMatchObject({
        status: 200,
        json: { ...streamer, disabled: true, updated: expect.any(String) },
      });
      const enabled = await stack.request('PUT', path, {
        body: { platform_username: streamer.platform_username },
      });
      expect(enabled).toMatchObject({ status: 200, json: { disabled: false, streaming: false } });
      expect((await readStreamer(stack, streamer.id)).disabled).toBe(false);
    });

    it('reject the name of another user and a name that does not exist', async () => {
      const { streamer } = await monitor();
      const other = await platform.addUser();
      for (const platform_username of [other.login, uniqueLogin()]) {
        const answer = await stack.request<Problem>('PATCH', `${streamersPath}/${streamer.id}`, {
          body: { platform_username },
        });
        expect(answer.status).toBe(400);
        expect(Object.keys(answer.json.errors ?? {})).toEqual(['platform_username']);
      }
    });

    it('PUT requires a name; a wrong type is an error', async () => {
      const { streamer } = await monitor();
      const path = `${streamersPath}/${streamer.id}`;
      expect(await stack.request('PUT', path, { body: {} })).toMatchObject({
        status: 400,
        json: { errors: { platform_username: expect.any(Array) } },
      });
      expect(await stack.request('PATCH', path, { body: { disabled: 'yes' } })).toMatchObject({
        status: 400,
      });
      expect(await stack.request('PATCH', `${streamersPath}/${unknownId}`, { body: {} })).toMatchObject({
        status: 404,
      });
    });
  });

  describe('DELETE /api/v1/streamers/<id>', () => {
    it('responds with 204 and deletes the streamer; adding the streamer again starts without history', async () => {
      const { user, streamer } = await monitor();
      const path = `${streamersPath}/${streamer.id}`;
      expect(await stack.request('DELETE', path)).toMatchObject({ status: 204, text: '' });
      expect((await stack.request('GET', path)).status).toBe(404);
      expect((await stack.request('DELETE', path)).status).toBe(404);
      const again = await monitorStreamer(stack, user.login);
      expect(again).toMatchObject({ platform_id: user.id });
      expect(again.id).not.toBe(streamer.id);
    });
  });

  it('responds with 401 without a token, with 405 and Allow to a wrong method, and with 415 to another content type', async () => {
    for (const path of [
      '',
      '/rebuild',
      `/${unknownId}`,
      `/${unknownId}/streams`,
      `/${unknownId}/streams/latest`,
    ]) {
      const { status, headers } = await stack.request('GET', streamersPath + path, { token: null });
      expect(status).toBe(401);
      expect(headers.get('www-authenticate')).toBe('Token');
    }
    const wrong = await stack.request('DELETE', streamersPath);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
    const text = { body: 'x', headers: { 'content-type': 'text/plain' } };
    expect((await stack.request('POST', streamersPath, text)).status).toBe(415);
  });
});
