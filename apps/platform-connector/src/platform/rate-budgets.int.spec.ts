import { eventually } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
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

  it('is shared by all instances: there are never more calls than the platform permits', async () => {
    // So few that the next one comes too late for who waits 3.5 s at most: nobody waits.
    setup.fake.callsPerMinute = 20;
    const instances = [await setup.createInstance(), await setup.createInstance()];
    const startedAt = performance.now();
    // The platform says its limit with the first answer.
    await look(instances[0]!);
    const calls = Array.from({ length: 30 }, (_, index) => look(instances[index % 2]!));
    const outcomes = await Promise.allSettled(calls);
    const elapsedMs = performance.now() - startedAt;
    const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');

    // 20, and one every three seconds while it lasted.
    expect(setup.fake.count(users)).toBeGreaterThanOrEqual(20);
    expect(setup.fake.count(users)).toBeLessThanOrEqual(20 + Math.ceil(elapsedMs / 3_000));
    expect(setup.logs).not.toContain('rate limit is reached');
    expect(refusals).toHaveLength(31 - setup.fake.count(users));
    for (const { reason } of refusals)
      expect(reason).toMatchObject({
        name: 'PlatformUnavailableError',
        message: 'The platform’s rate limit is used up.',
      });
  });

  it('leaves a tenth to those who wait', async () => {
    setup.fake.callsPerMinute = 20;
    const instance = await setup.createInstance();
    const startedAt = performance.now();
    await look(instance);
    await Promise.allSettled(Array.from({ length: 30 }, () => look(instance, 'background')));
    const inBackground = setup.fake.count(users);

    expect(inBackground).toBeGreaterThanOrEqual(18);
    // And one every three seconds while it lasted.
    expect(inBackground).toBeLessThanOrEqual(18 + Math.ceil((performance.now() - startedAt) / 3_000));
    await look(instance);
    expect(setup.fake.count(users)).toBe(inBackground + 1);
  });

  it('is told as it is now', async () => {
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

  it('stops all instances after a 429 until the time that the platform says, and then goes on', async () => {
    const instances = [await setup.createInstance(), await setup.createInstance()];
    setup.fake.fault = (call, response) => {
      if (call.name !== users) return false;
      response.writeHead(429, {
        'Ratelimit-Limit': '800',
        'Ratelimit-Remaining': '0',
        'Ratelimit-Reset': String(Math.floor(Date.now() / 1_000) + 20),
      });
      response.end('{"status":429,"message":"slow down"}');
      return true;
    };
    const askedAt = Date.now();
    const refusal = await look(instances[0]!).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ name: 'PlatformUnavailableError', message: /rate limit/ });
    setup.fake.fault = () => false;
    for (const instance of instances)
      await expect(look(instance)).rejects.toMatchObject({ retryAfterSeconds: expect.any(Number) });
    const { budget, circuit } = await instances[1]!.status.read();

    expect(setup.fake.count(users)).toBe(1);
    expect(budget?.blockedUntil).toBeGreaterThan(askedAt + 15_000);
    expect(budget?.blockedUntil).toBeLessThan(Date.now() + 25_000);
    expect(circuit).toBe('closed');
    // Only the first has met it, and tells the other.
    await eventually(async () => {
      for (const { status } of instances)
        expect((await status.read()).lastError?.message).toContain('rate limit');
    });

    await setup.dataSource.query(
      `UPDATE rate_budgets SET blocked_until = now() - interval '1 ms', remaining = 10`,
    );
    expect(await look(instances[1]!)).toEqual([]);
  });

  it('takes a 429 for a subscription for a limit on calls when no calls are left', async () => {
    const { platform } = await setup.createInstance();
    setup.fake.fault = (call, response) => {
      if (!call.name.startsWith('POST /api')) return false;
      response.writeHead(429, { 'Ratelimit-Remaining': '0' });
      response.end('{}');
      return true;
    };
    const wanted = { type: 't', version: '1', condition: {}, callback: 'https://x', secret: '0123456789' };

    await expect(platform.createSubscription(wanted)).rejects.toThrow(/rate limit/);
  });
});
