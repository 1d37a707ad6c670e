import { jest } from '@jest/globals';
import { eventually, freePort } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { answerLate, answerWith, FakePlatform, type Fault } from '../../test/fake-platform.js';
import { productLimits, setLimits } from '../../test/patient-limits.js';
import { PlatformClient } from './platform-client.js';
import { callLimits } from './retry-schedule.js';
import { PlatformUnavailableError } from '@stream-events/platforms';

const users = 'GET /api/users';
const streams = 'GET /api/streams';
const patiently = { timeoutMs: 45_000 };
// The margin for a busy machine. It must be small enough to detect a missing limit: two attempts of 3 s alone take 6 s.
const marginMs = 1_500;

describe(PlatformClient.name, () => {
  let setup: ConnectorSetup;
  let instance: ConnectorInstance;
  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(async () => {
    setup.fake.answers.set(users, () => [200, { data: [] }]);
    setup.fake.answers.set(streams, () => [200, { data: [] }]);
    instance = await setup.createInstance();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await setup.reset();
  });
  afterAll(() => setup.stop());

  const look = () => instance.platform.lookUpUsers(['1'], [], 'interactive');
  const circuit = async (): Promise<string> => (await instance.status.read()).circuit;

  /** Returns the error of a failed call, and whether the call exceeded its limit. */
  async function failure(
    call: () => Promise<unknown>,
  ): Promise<{ error: PlatformUnavailableError; isLate: boolean }> {
    let isLate = false;
    // Use a timer instead of a clock. After a stall of the machine, the call's own timers still fire before this one.
    const timer = setTimeout(() => (isLate = true), callLimits.users.totalMs + marginMs);
    const outcome: unknown = await call().catch((error: unknown) => error);
    clearTimeout(timer);
    if (!(outcome instanceof PlatformUnavailableError))
      throw new Error(`the call did not fail as unavailable: ${String(outcome)}`);
    return { error: outcome, isLate };
  }

  /** Makes all calls except token requests fail with this fault. */
  const failApi = (fault: Fault): void => {
    setup.fake.fault = (call, response) => call.name.includes('/api/') && fault(call, response);
  };

  /** Makes the next `times` calls fail with 500. */
  const failTimes = (times: number): void => {
    let left = times;
    failApi((_call, response) => {
      left -= 1;
      return left >= 0 && answerWith(response, 500, '');
    });
  };

  describe('retries', () => {
    it('an interactive call once', async () => {
      failTimes(1);
      expect(await look()).toEqual([]);
      failTimes(2);

      expect((await failure(look)).error.message).toBe('The platform failed with status 500.');
      expect(setup.fake.count(users)).toBe(4);
    });

    it('a background call twice', async () => {
      failTimes(2);
      expect((await instance.platform.lookUpStreams(['1'])).streams).toEqual([]);

      expect(setup.fake.count(streams)).toBe(3);
    });

    it('and counts each attempt by result', async () => {
      failTimes(1);
      await look();
      const metrics = await instance.metrics.metrics();

      expect(metrics).toContain('platform_connector_calls_total{endpoint="users",result="server_error"} 1');
      expect(metrics).toContain('platform_connector_calls_total{endpoint="users",result="ok"} 1');
      expect(metrics).toContain('platform_connector_calls_total{endpoint="token",result="ok"} 1');
      expect(metrics).toContain('platform_connector_call_seconds_count{endpoint="users"} 2');
    });
  });

  describe('fails within its time limit', () => {
    it.each<[string, Fault, RegExp]>([
      [
        'closed connections',
        ({ name }, response) => name !== '' && Boolean(response.destroy()),
        /connection/,
      ],
      ['a reply that is not JSON', (_call, response) => answerWith(response, 200, '<html>'), /not JSON/],
      ['a redirect', (_call, response) => answerWith(response, 302, ''), /status 302/],
      [
        'an HTML error page',
        (_call, response) => answerWith(response, 404, '<html>'),
        /status 404: no reason given/,
      ],
      [
        'a reply that is too large',
        (_call, response) => answerWith(response, 200, JSON.stringify({ data: 'x'.repeat(3_000_000) })),
        /larger than 2 MiB/,
      ],
    ])('%s', async (_what, fault, message) => {
      failApi(fault);
      const { error, isLate } = await failure(look);

      expect(error.message).toMatch(message);
      expect(error.retryAfterSeconds).toBeGreaterThanOrEqual(1);
      expect(isLate).toBe(false);
      expect((await instance.status.read()).lastError?.message).toMatch(message);
    });

    it.each<[string, Fault]>([
      ['does not respond', (_call, response) => answerLate(response, 30_000)],
      [
        'sends its body byte by byte',
        (_call, response) => {
          response.writeHead(200);
          const timer = setInterval(() => response.write(' '), 200);
          response.on('close', () => clearInterval(timer));
          return true;
        },
      ],
    ])('a platform that %s', async (_what, fault) => {
      // Get the token first, so that the measured calls spend their time on the platform.
      await look();
      setLimits('users', productLimits.users);
      failApi(fault);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => failure(look)));

      for (const { error, isLate } of outcomes) {
        expect(error.message).toMatch(/in time|is unavailable|Too many calls to the platform are waiting/);
        expect(isLate).toBe(false);
      }
      // Abandoned calls end by their own timeouts. On a busy machine, most of them time out before they reach the platform, so the circuit
      // may still be closed.
      setLimits('users', { totalMs: 20_000 });
      await eventually(async () => {
        if ((await circuit()) === 'closed') await failure(look);
        expect(await circuit()).toBe('open');
      }, patiently);
    });

    it('a platform that does not respond to a token request either', async () => {
      setLimits('users', productLimits.users);
      setup.fake.fault = (_call, response) => answerLate(response, 30_000);
      const { isLate } = await failure(look);

      expect(isLate).toBe(false);
    });

    it('even while background calls hang', async () => {
      // Let the background calls hang until the end of the test.
      setLimits('streams', { totalMs: 120_000, attemptMs: 60_000 });
      failApi(({ name }, response) => name === streams && answerLate(response, 120_000));
      let ended = 0;
      const hanging = Array.from({ length: 10 }, async () => {
        await failure(() => instance.platform.lookUpStreams(['1']));
        ended += 1;
      });
      await eventually(() => expect(setup.fake.count(streams)).toBeGreaterThanOrEqual(6));
      for (let time = 0; time < 5; time += 1) expect(await look()).toEqual([]);

      expect(ended).toBe(0);
      await instance.close();
      await Promise.all(hanging);
    });
  });

  describe('circuit', () => {
    it('opens after five failures in a row, then rejects without a call, and closes when a probe succeeds', async () => {
      await look();
      // Stop the clock. Otherwise, the circuit might allow a probe after one second, before all checks are done.
      const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now());
      failApi((_call, response) => answerWith(response, 503, ''));
      for (let time = 0; time < 3; time += 1) await failure(look);
      expect(await circuit()).toBe('open');
      expect(await instance.metrics.metrics()).toContain('platform_connector_circuit_open 1');
      const calls = setup.fake.calls.length;
      const { error } = await failure(look);

      expect(calls).toBe(1 + 1 + 5);
      expect(error.message).toBe('The platform is unavailable: The platform failed with status 503.');
      expect(setup.fake.calls).toHaveLength(calls);

      setup.fake.fault = () => false;
      clock.mockRestore();
      await eventually(async () => expect(await look()).toEqual([]), patiently);
      expect(await circuit()).toBe('closed');
      expect(setup.logs.match(/circuit open\b/g)).toHaveLength(1);
      expect(setup.logs.match(/circuit closed/g)).toHaveLength(1);
    });

    it('opens when no server is listening, and closes when one is', async () => {
      const otherPort = await freePort();
      const url = `http://127.0.0.1:${otherPort}`;
      instance = await setup.createInstance({
        PLATFORM_API_URL: `${url}/api`,
        PLATFORM_AUTH_URL: `${url}/oauth2`,
      });
      expect((await failure(look)).error.message).toContain('ECONNREFUSED');
      for (let time = 0; time < 2; time += 1) await failure(look);
      expect(await circuit()).toBe('open');
      const started = await FakePlatform.start(otherPort);
      started.clientSecret = setup.fake.clientSecret;
      started.answers.set(users, () => [200, { data: [] }]);
      try {
        await eventually(async () => expect(await look()).toEqual([]), patiently);
        expect(await circuit()).toBe('closed');
      } finally {
        await instance.close();
        await started.stop();
      }
    });

    it('stays closed when the platform rejects calls, because the platform works', async () => {
      setup.fake.answers.set(users, () => [400, { message: 'no' }]);
      for (let time = 0; time < 8; time += 1) await failure(look);

      expect(await circuit()).toBe('closed');
    });
  });

  describe('simulated and real', () => {
    it('rejects a platform that is not simulated when PLATFORM is simulator', async () => {
      setup.fake.isSimulation = false;
      const { error } = await failure(look);

      expect(error.message).toMatch(/is not the simulated platform/);
      expect(setup.fake.calls).toHaveLength(1);
      expect(await setup.readTables()).not.toContain('token_encrypted":"');
    });

    it('rejects a simulated platform when PLATFORM is twitch, even when it already has a token', async () => {
      instance = await setup.createInstance({ PLATFORM: 'twitch' });
      expect((await failure(look)).error.message).toMatch(/is a simulated platform/);
      setup.fake.isSimulation = false;
      expect(await look()).toEqual([]);
      setup.fake.isSimulation = true;

      expect((await failure(look)).error.message).toMatch(/is a simulated platform/);
      expect(setup.fake.count('POST /oauth2/token')).toBe(2);
    });
  });

  it('logs failures without secrets', async () => {
    await look();
    const transport = {
      method: 'webhook',
      callback: 'https://x',
      secret: 'a-secret-of-the-webhook',
    } as const;
    const wanted = { type: 't', version: '1', condition: {}, transport };
    failApi((_call, response) => answerWith(response, 500, ''));
    await failure(() => instance.platform.createSubscription(wanted));
    failApi((_call, response) => Boolean(response.destroy()));
    await failure(look);
    const { clientSecret, tokens } = setup.fake;

    expect(setup.logs).toContain('call to the platform failed');
    for (const secret of [clientSecret, transport.secret, ...tokens])
      expect(setup.logs).not.toContain(secret);
  });
});
