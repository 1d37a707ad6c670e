import { eventually } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { setLimits } from '../../test/patient-limits.js';
import { RateBudgets } from './rate-budgets.service.js';

const users = 'GET /api/users';

describe(RateBudgets.name, () => {
  let setup: ConnectorSetup;
  beforeAll(async () => {
    setup = await ConnectorSetup.start();
  });
  beforeEach(() => {
    setup.fake.answers.set(users, () => [200, { data: [] }]);
    setup.fake.answers.set('GET /api/streams', () => [200, { data: [] }]);
  });
  afterEach(() => setup.reset());
  afterAll(() => setup.stop());

  const look = ({ platform }: ConnectorInstance, priority: 'interactive' | 'background' = 'interactive') =>
    platform.lookUpUsers(['1'], [], priority);

  it('is shared by all instances, which together never exceed the platform’s limit', async () => {
    // The platform allows one more call every 12 s, which is too long for a call to wait. Within that bound, give calls as much time as
    // possible for a busy machine.
    setup.fake.callsPerMinute = 5;
    setLimits('users', { totalMs: 12_000, attemptMs: 10_000 });
    const instances = [await setup.createInstance(), await setup.createInstance()];
    const startedAt = performance.now();
    // The first reply reports the platform's limit.
    await look(instances[0]!);
    const calls = Array.from({ length: 20 }, (_, index) => look(instances[index % 2]!));
    const outcomes = await Promise.allSettled(calls);
    const elapsedMs = performance.now() - startedAt;
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');

    // 5 calls, plus one for every 12 s of the test.
    expect(setup.fake.count(users)).toBeGreaterThanOrEqual(5);
    expect(setup.fake.count(users)).toBeLessThanOrEqual(5 + Math.floor(elapsedMs / 12_000));
    expect(setup.logs).not.toContain('platform rate limit reached');
    expect(refusals).toHaveLength(21 - setup.fake.count(users));
    for (const { reason } of refusals)
      expect(reason).toMatchObject({
        name: 'PlatformUnavailableError',
        message: 'The platform’s rate limit is used up.',
      });
  });

  it('reserves a tenth of the calls for interactive callers', async () => {
    setup.fake.callsPerMinute = 10;
    // The next background call is possible after 6 s, which is too long for a call to wait.
    setLimits('users', { totalMs: 6_000 });
    const instance = await setup.createInstance();
    const startedAt = performance.now();
    await look(instance);
    await Promise.allSettled(Array.from({ length: 12 }, () => look(instance, 'background')));
    const inBackground = setup.fake.count(users);

    expect(inBackground).toBeGreaterThanOrEqual(9);
    // 9 calls, plus one for every 6 s of the test.
    expect(inBackground).toBeLessThanOrEqual(9 + Math.floor((performance.now() - startedAt) / 6_000));
    setLimits('users', { totalMs: 30_000 });
    await look(instance);
    expect(setup.fake.count(users)).toBe(inBackground + 1);
  });

  it('is reported with its current value', async () => {
    setup.fake.callsPerMinute = 100;
    const instance = await setup.createInstance();
    expect((await instance.status.read()).budget).toBeNull();
    await look(instance);
    await look(instance);
    const { budget } = await instance.status.read();

    expect(budget).toEqual({ limit: 100, remaining: expect.any(Number), blockedUntil: null });
    expect(budget?.remaining).toBeGreaterThanOrEqual(98);
    expect(await instance.metrics.metrics()).toMatch(/platform_connector_budget_calls (9[89]|100)/);
  });

  it('stops all instances after a 429 until the time that the platform reports, then continues', async () => {
    const instances = [await setup.createInstance(), await setup.createInstance()];
    setup.fake.fault = (call, response) => {
      if (call.name !== users) return false;
      response.writeHead(429, {
        'Ratelimit-Limit': '800',
        'Ratelimit-Remaining': '0',
        // So far in the future that no call waits that long.
        'Ratelimit-Reset': String(Math.floor(Date.now() / 1_000) + 90),
      });
      response.end('{"status":429,"message":"slow down"}');
      return true;
    };
    const askedAt = Date.now();
    const refusal = await look(instances[0]!).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      name: 'PlatformUnavailableError',
      message: expect.stringContaining('rate limit'),
    });
    setup.fake.fault = () => false;
    for (const instance of instances)
      await expect(look(instance)).rejects.toMatchObject({ retryAfterSeconds: expect.any(Number) });
    const { budget, circuit } = await instances[1]!.status.read();

    expect(setup.fake.count(users)).toBe(1);
    expect(budget?.blockedUntil).toBeGreaterThan(askedAt + 85_000);
    expect(budget?.blockedUntil).toBeLessThan(Date.now() + 95_000);
    expect(circuit).toBe('closed');
    // Only the first instance got the 429. The other instance reads the error from the database.
    await eventually(async () => {
      for (const { status } of instances)
        expect((await status.read()).lastError?.message).toContain('rate limit');
    });

    await setup.dataSource.query(
      `UPDATE rate_budgets SET blocked_until = now() - interval '1 ms', remaining = 10`,
    );
    expect(await look(instances[1]!)).toEqual([]);
  });

  it('treats a 429 to a subscription request as the rate limit when no calls are left', async () => {
    const { platform } = await setup.createInstance();
    setup.fake.fault = (call, response) => {
      if (!call.name.startsWith('POST /api')) return false;
      response.writeHead(429, { 'Ratelimit-Remaining': '0' });
      response.end('{}');
      return true;
    };
    const transport = { method: 'webhook', callback: 'https://x', secret: '0123456789' } as const;
    const wanted = { type: 't', version: '1', condition: {}, transport };

    await expect(platform.createSubscription(wanted)).rejects.toThrow(/rate limit/);
  });
});
