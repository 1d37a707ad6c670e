import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { SimulatedPlatform, type ApiFault } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer, readStreamer, streamersPath } from './streamer-records.js';

/** Each fault lasts longer than its test needs. */
const outages: [what: string, fault: ApiFault][] = [
  ['is down', { mode: 'down' }],
  ['is slow', { mode: 'slow', delay_ms: 30_000 }],
  ['responds with garbage', { mode: 'garbage' }],
  ['responds with errors', { mode: 'error' }],
  ['responds with too many requests', { mode: 'rate_limited', for_ms: 10_000 }],
];

// The rate limit lasts 10 s, and each connector probes an open circuit at least every 30 s. The remaining time is a margin for a busy
// machine.
const healed = { timeoutMs: 90_000 };

jest.setTimeout(300_000);

describe('outage of the platform', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    platform = new SimulatedPlatform(stack);
  }, startLimitMs);

  // End the fault here, so that a failed test does not affect the next one.
  afterEach(() => platform.setFaults({ api: { mode: 'ok' } }));
  afterAll(() => stack.stop());

  describe.each(outages)('when it %s', (_, fault) => {
    it('rejects a new streamer within 5 s, stores nothing, serves everything else, and recovers on its own', async () => {
      const known = await platform.addUser();
      // Each connector detects on its own that the previous outage is over. Retry until one succeeds.
      const streamer = await eventually(() => monitorStreamer(stack, known.login), healed);
      const user = await platform.addUser();
      const before = await stack.count('streamer_monitor.streamers');
      await platform.setFaults({ api: fault });

      const startedAt = performance.now();
      const refused = await stack.request('POST', streamersPath, { body: { platform_username: user.login } });
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      // The connector gives up after 4.5 s; without this limit, a slow platform would take 30 s. The remaining time is a margin for a busy
      // machine.
      expect(performance.now() - startedAt).toBeLessThan(25_000);
      expect(await stack.count('streamer_monitor.streamers')).toBe(before);

      expect((await stack.request('GET', '/api/v1/heartbeat', { token: null })).json).toEqual({
        message: 'pong',
      });
      expect((await stack.request('POST', eventsPath, { body: eventBody() })).status).toBe(201);
      expect((await stack.request('GET', streamersPath)).status).toBe(200);
      expect((await stack.request('GET', '/api/v1/platform/scopes')).status).toBe(200);
      // The connector that responds can be a different one than the one whose call failed.
      await eventually(async () =>
        expect(await stack.request('GET', '/api/v1/platform/status')).toMatchObject({
          status: 200,
          json: { last_error: { message: expect.any(String) } },
        }),
      );
      const path = `${streamersPath}/${streamer.id}`;
      expect((await stack.request('PATCH', path, { body: { disabled: true } })).status).toBe(200);
      expect((await readStreamer(stack, streamer.id)).disabled).toBe(true);

      await platform.setFaults({ api: { mode: 'ok' } });
      await eventually(async () => {
        const { status } = await stack.request('POST', streamersPath, {
          body: { platform_username: user.login },
        });
        expect(status).toBe(201);
      }, healed);
    });
  });

  it("accepts webhook messages while the platform's API is down", async () => {
    const user = await platform.addUser();
    const streamer = await eventually(() => monitorStreamer(stack, user.login), healed);
    await eventually(async () => {
      const rows = await stack.query(
        `SELECT 1 FROM platform_connector.subscriptions
         WHERE status = 'enabled' AND type = 'stream.online' AND condition ->> 'broadcaster_user_id' = $1`,
        [user.id],
      );
      expect(rows).toHaveLength(1);
    }, healed);
    await platform.setFaults({ api: { mode: 'down' } });
    await platform.goLive(user.id);
    await eventually(
      async () => expect(await readStreamer(stack, streamer.id)).toMatchObject({ streaming: true }),
      healed,
    );
  });
});
