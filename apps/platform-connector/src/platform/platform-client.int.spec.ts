import { jest } from '@jest/globals';
import { eventually, freePort } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { answerLate, answerWith, FakePlatform, type Fault } from '../../test/fake-platform.js';
import { PlatformClient } from './platform-client.js';
import { PlatformUnavailableError } from '@stream-events/platforms';

const users = 'GET /api/users';
const streams = 'GET /api/streams';
// A call takes 3.5 s at most, and the rest is for a machine that is busy. Without a limit two tries alone would take 6 s.
const limitMs = 5_000;

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

  /** What a call fails with, and whether only after the limit. */
  async function failure(
    call: () => Promise<unknown>,
  ): Promise<{ error: PlatformUnavailableError; isLate: boolean }> {
    let isLate = false;
    // A timer and no clock: when the machine has stood still, the call's own timers still go off before this one.
    const timer = setTimeout(() => (isLate = true), limitMs);
    const outcome: unknown = await call().catch((error: unknown) => error);
    clearTimeout(timer);
    if (!(outcome instanceof PlatformUnavailableError)) throw new Error(`not refused: ${String(outcome)}`);
    return { error: outcome, isLate };
  }

  /** Every call but those for a token fails so. */
  const failApi = (fault: Fault): void => {
    setup.fake.fault = (call, response) => call.name.includes('/api/') && fault(call, response);
  };

  /** The next calls, as many as given, fail with 500. */
  const failTimes = (times: number): void => {
    let left = times;
    failApi((_call, response) => {
      left -= 1;
      return left >= 0 && answerWith(response, 500, '');
    });
  };

  describe('tries again', () => {
    it('once what a person waits for', async () => {
      failTimes(1);
      expect(await look()).toEqual([]);
      failTimes(2);

      expect((await failure(look)).error.message).toBe('The platform failed with status 500.');
      expect(setup.fake.count(users)).toBe(4);
    });

    it('twice what nobody waits for', async () => {
      failTimes(2);
      expect((await instance.platform.lookUpStreams(['1'])).streams).toEqual([]);

      expect(setup.fake.count(streams)).toBe(3);
    });

    it('and counts what came of it', async () => {
      failTimes(1);
      await look();
      const metrics = await instance.metrics.metrics();

      expect(metrics).toContain('platform_connector_calls_total{endpoint="users",result="server_error"} 1');
      expect(metrics).toContain('platform_connector_calls_total{endpoint="users",result="ok"} 1');
      expect(metrics).toContain('platform_connector_calls_total{endpoint="token",result="ok"} 1');
      expect(metrics).toContain('platform_connector_call_seconds_count{endpoint="users"} 2');
    });
  });

  describe('refuses within its time limit', () => {
    it.each<[string, Fault, RegExp]>([
      [
        'connections that are closed',
        ({ name }, response) => name !== '' && Boolean(response.destroy()),
        /connection/,
      ],
      ['no JSON', (_call, response) => answerWith(response, 200, '<html>'), /not JSON/],
      ['a redirect', (_call, response) => answerWith(response, 302, ''), /status 302/],
      [
        'a page of errors',
        (_call, response) => answerWith(response, 404, '<html>'),
        /status 404: no reason given/,
      ],
      [
        'more than fits',
        (_call, response) => answerWith(response, 200, JSON.stringify({ data: 'x'.repeat(3_000_000) })),
        /more than 2 MiB/,
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
      ['does not answer', (_call, response) => answerLate(response, 30_000)],
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
      failApi(fault);
      const outcomes = await Promise.all(Array.from({ length: 20 }, () => failure(look)));

      for (const { error, isLate } of outcomes) {
        expect(error.message).toMatch(/in time|does not work|Too many calls of the platform wait/);
        expect(isLate).toBe(false);
      }
      // What was given up ends by limits of its own.
      await eventually(async () => expect(await circuit()).toBe('open'));
    });

    it('a platform that does not answer for a token either', async () => {
      setup.fake.fault = (_call, response) => answerLate(response, 30_000);
      const { isLate } = await failure(look);

      expect(isLate).toBe(false);
    });

    it('also while background calls hang', async () => {
      failApi(({ name }, response) => name === streams && answerLate(response, 30_000));
      const hanging = Array.from({ length: 10 }, () => failure(() => instance.platform.lookUpStreams(['1'])));
      await eventually(() => expect(setup.fake.count(streams)).toBe(6));
      const begunAt = performance.now();
      for (let time = 0; time < 5; time += 1) expect(await look()).toEqual([]);

      // What hangs, hangs for 10 s.
      expect(performance.now() - begunAt).toBeLessThan(limitMs);
      await instance.close();
      await Promise.all(hanging);
    });
  });

  describe('circuit', () => {
    it('opens after five failures in a row, then refuses without a call, and closes by itself', async () => {
      await look();
      // Else its rest of a second might be over before all is looked at.
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
      await eventually(async () => expect(await look()).toEqual([]));
      expect(await circuit()).toBe('closed');
      expect(setup.logs.match(/circuit opened/g)).toHaveLength(1);
      expect(setup.logs.match(/circuit closed/g)).toHaveLength(1);
    });

    it('opens when nothing listens, and closes when it does', async () => {
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
        await eventually(async () => expect(await look()).toEqual([]));
        expect(await circuit()).toBe('closed');
      } finally {
        await instance.close();
        await started.stop();
      }
    });

    it('stays closed for refusals: the platform answers', async () => {
      setup.fake.answers.set(users, () => [400, { message: 'no' }]);
      for (let time = 0; time < 8; time += 1) await failure(look);

      expect(await circuit()).toBe('closed');
    });
  });

  describe('simulated and real', () => {
    it('refuses a platform that is not simulated where PLATFORM is simulator', async () => {
      setup.fake.isSimulation = false;
      const { error } = await failure(look);

      expect(error.message).toMatch(/is not the simulated platform/);
      expect(setup.fake.calls).toHaveLength(1);
      expect(await setup.readTables()).not.toContain('token_encrypted":"');
    });

    it('refuses a simulated platform where PLATFORM is twitch, also when it has a token already', async () => {
      instance = await setup.createInstance({ PLATFORM: 'twitch' });
      expect((await failure(look)).error.message).toMatch(/is a simulated platform/);
      setup.fake.isSimulation = false;
      expect(await look()).toEqual([]);
      setup.fake.isSimulation = true;

      expect((await failure(look)).error.message).toMatch(/is a simulated platform/);
      expect(setup.fake.count('POST /oauth2/token')).toBe(2);
    });
  });

  it('says nothing secret in what it logs of failures', async () => {
    await look();
    const wanted = {
      type: 't',
      version: '1',
      condition: {},
      callback: 'https://x',
      secret: 'a-secret-of-the-webhook',
    };
    failApi((_call, response) => answerWith(response, 500, ''));
    await failure(() => instance.platform.createSubscription(wanted));
    failApi((_call, response) => Boolean(response.destroy()));
    await failure(look);
    const { clientSecret, tokens } = setup.fake;

    expect(setup.logs).toContain('call to the platform failed');
    for (const secret of [clientSecret, wanted.secret, ...tokens]) expect(setup.logs).not.toContain(secret);
  });
});
