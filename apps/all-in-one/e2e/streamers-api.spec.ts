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
});
