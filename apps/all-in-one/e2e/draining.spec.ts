import { eventually } from '@stream-events/testing';
import { startLimitMs, startStack, type Stack } from './stack.js';

// Shutdown delay that is long enough to read the health and send requests, even when each takes seconds.
const drainMs = 8_000;

describe('a gateway with DRAIN_SECONDS', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      killable: ['gateway'],
      environment: { DRAIN_SECONDS: String(drainMs / 1_000) },
    });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const get = (url: string) => stack.request('GET', url, { token: null });

  it('serves requests for that time after SIGTERM, while it reports that it is not ready', async () => {
    const { gateway } = stack;
    const startedAt = performance.now();
    const ended = gateway.kill('SIGTERM');
    await eventually(async () => expect((await get(`${gateway.adminUrl}/health/ready`)).status).toBe(503), {
      intervalMs: 10,
    });
    let served = 0;
    const serve = async (): Promise<void> => {
      for (;;) {
        // With a token: anonymous requests are limited.
        expect((await stack.request('GET', `${gateway.url}/api/v1/heartbeat`)).status).toBe(200);
        served += 1;
      }
    };
    await expect(serve()).rejects.toThrow('fetch failed'); // the gateway has stopped listening
    // The gateway served every request until this one failed. Measure to this failure: the time of the last response varies with the
    // duration of a request.
    expect(performance.now() - startedAt).toBeGreaterThan(drainMs * 0.99);
    expect(served).toBeGreaterThan(0);
    expect(await ended).toEqual({ code: 0, signal: null });
  });
});
