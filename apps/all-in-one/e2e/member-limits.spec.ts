import { jest } from '@jest/globals';
import { createHmac, randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { jetstreamManager } from '@nats-io/jetstream';
import { eventsStreamName } from '@stream-events/contracts';
import { eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, type Answer, type Problem } from './api.js';
import { type LiveSocket } from './live-clients.js';
import { owner, webhookSecrets } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const patiently = { timeoutMs: 60_000 };

// A test sends dozens of 200 KiB requests, opens a hundred sockets, or stores 24,000 events. Each takes minutes on a busy machine.
jest.setTimeout(300_000);

interface Member {
  id: string;
  token: string;
}

describe('limits of a member', () => {
  let stack: Stack;
  const opened: LiveSocket[] = [];

  beforeAll(async () => {
    stack = await startStack({ environment: { MAX_STORED_MB_PER_DAY: '1' } });
  }, startLimitMs);
  afterAll(() => stack.stop());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((socket) => socket.close()));
  });

  const post = (
    { token }: Member,
    bytes: number,
    gateway: TestService = stack.gateway,
  ): Promise<Answer<Problem>> =>
    stack.request<Problem>('POST', eventsPath, {
      token,
      gateway: gateway.url,
      body: eventBody({ event_data: { padding: 'x'.repeat(bytes) } }),
    });

  const postPlatformMessage = async (gateway: TestService): Promise<number> => {
    const [id, timestamp] = [randomUUID(), new Date().toISOString()];
    const body = '{"subscription":{"type":"channel.follow"},"event":{"broadcaster_user_id":"4711"}}';
    const hmac = createHmac('sha256', webhookSecrets[0]).update(id + timestamp + body);
    const headers = {
      'twitch-eventsub-message-id': id,
      'twitch-eventsub-message-timestamp': timestamp,
      'twitch-eventsub-message-type': 'notification',
      'twitch-eventsub-message-signature': `sha256=${hmac.digest('hex')}`,
    };
    const options = { token: null, headers, body, gateway: gateway.url };
    return (await stack.request('POST', `${eventsPath}/webhook`, options)).status;
  };

  describe('bytes per day', () => {
    it('are counted at all gateways together, for events and test events, and not twice for a repeated request', async () => {
      const member = await stack.registerUser();
      const size = 200 * 1024;
      const test = await stack.request('POST', `${eventsPath}/stream-online/test`, {
        token: member.token,
        body: { padding: 'x'.repeat(size) },
      });
      expect(test.status).toBe(200);
      const key = { 'idempotency-key': randomUUID() };
      for (let count = 0; count < 20; count += 1) {
        const body = eventBody({ event_data: { padding: 'x'.repeat(size) } });
        expect(
          await stack.request('POST', eventsPath, { token: member.token, headers: key, body }),
        ).toMatchObject({
          status: 201,
        });
      }
      let accepted = 2;
      const refused = await eventually(async () => {
        const answer = await post(member, size, stack.gateways[accepted % 2]);
        if (answer.status === 201) accepted += 1;
        expect(answer.status).toBe(429);
        return answer;
      }, patiently);
      // Until the gateways exchange their counts, each one accepts events up to the limit.
      expect(accepted).toBeGreaterThanOrEqual(5);
      expect(accepted).toBeLessThanOrEqual(10);
      expect(refused.json.detail).toContain('The limit is 1.0 MiB per user and day (MAX_STORED_MB_PER_DAY).');
      const untilMidnight = 86_400 - ((Date.now() / 1_000) % 86_400);
      expect(Math.abs(Number(refused.headers.get('retry-after')) - untilMidnight)).toBeLessThan(60);
      for (const gateway of stack.gateways)
        await eventually(async () => expect((await post(member, size, gateway)).status).toBe(429), patiently);
      expect((await post(await stack.registerUser(), size)).status).toBe(201);
      expect(await postPlatformMessage(stack.gateway)).toBe(204);
    });

    it('include 1 KiB for each new named token', async () => {
      const { id, token } = await stack.registerUser();
      const body = { name: 'bot', scopes: ['events:read'] };
      for (let count = 0; count < 3; count += 1)
        expect((await stack.request('POST', '/api/v1/tokens', { token, body })).status).toBe(201);

      await eventually(async () => {
        const rows = await stack.query('SELECT bytes FROM gateway.stored_bytes WHERE user_id = $1', [id]);
        expect(rows).toEqual([{ bytes: '3072' }]);
      }, patiently);
    });

    it('are as many as the EVENTS stream has', async () => {
      const readBytes = async (): Promise<number> => {
        await stack.waitUntilPublished();
        const manager = await jetstreamManager(stack.subscriber, { checkAPI: false });
        return (await manager.streams.info(eventsStreamName)).state.bytes;
      };
      const before = await readBytes();
      const member = await stack.registerUser();
      for (const type of ['channel-raid', 'ünïcödé.type', 'x'.repeat(255)])
        await stack.request('POST', eventsPath, {
          token: member.token,
          body: eventBody({ event_type: type }),
        });
      const between = await readBytes();
      const marker = (await readBytes()) - between;
      await eventually(async () => {
        const [row] = await stack.query<{ bytes: string }>(
          'SELECT bytes FROM gateway.stored_bytes WHERE user_id = $1',
          [member.id],
        );
        expect(Number(row?.bytes)).toBe(between - before - marker);
      }, patiently);
    });
  });

  it('refuse what clients store while disk space is low, and nothing else', async () => {
    const gateway = await stack.startGateway({ MIN_FREE_DISK_MB: '100000000', DATA_DIR: tmpdir() });
    const member = await stack.registerUser();
    await eventually(async () => expect((await post(member, 1, gateway)).status).toBe(503), patiently);
    const ask = (method: string, path: string, body?: object): Promise<Answer<Problem>> =>
      stack.request<Problem>(method, path, { gateway: gateway.url, ...(body && { body }) });

    for (const [method, path, body] of [
      ['POST', eventsPath, eventBody()],
      ['POST', `${eventsPath}/stream-online/test`, {}],
      ['POST', '/api/v1/platform/scopes', { scope: 'a', required: false }],
      ['POST', '/api/v1/streamers', { platform_username: 'ada' }],
      ['POST', '/api/v1/tokens', { name: 'bot', scopes: ['events:read'] }],
      ['POST', '/api/v1/rehearsals', { connection: 'overlay' }],
    ] as const) {
      const refused = await ask(method, path, body);
      expect([path, refused.status, refused.headers.get('retry-after')]).toEqual([path, 503, '60']);
      expect(refused.json.detail).toContain('MIN_FREE_DISK_MB');
    }
    expect((await ask('GET', eventsPath)).status).toBe(200);
    expect((await ask('POST', '/api/v1/sessions', owner)).status).toBe(201);
    expect((await ask('DELETE', `/api/v1/platform/scopes/${randomUUID()}`)).status).toBe(404);
    expect(await postPlatformMessage(gateway)).toBe(204);
    expect(await gateway.metric('gateway_disk_low')).toBe(1);
  });
});
