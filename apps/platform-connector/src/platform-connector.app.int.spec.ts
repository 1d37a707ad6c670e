import {
  getPlatformStatus,
  lookUpStreams,
  lookUpUsers,
  natsUsers,
  type LookUpUsersRequest,
} from '@stream-events/contracts';
import { Health, Registry, type RunningService } from '@stream-events/service';
import { eventually, startTestNats, type TestNats } from '@stream-events/testing';
import { ConnectorSetup } from '../test/connector-setup.js';
import { answerLate } from '../test/fake-platform.js';
import { PatientClient } from '../test/patient-client.js';
import { setLimits } from '../test/patient-limits.js';
import { platformConnector } from './platform-connector.app.js';

describe('the platform connector', () => {
  let setup: ConnectorSetup;
  let nats: TestNats;
  let health: Health;
  let service: RunningService;
  let gateway: PatientClient;
  let monitor: PatientClient;

  beforeAll(async () => {
    [setup, nats] = await Promise.all([ConnectorSetup.start(), startTestNats(Object.values(natsUsers))]);
    health = new Health();
    const config = setup.config({
      NATS_URL: nats.urlFor('platform-connector'),
      PUBLIC_URL: 'https://events.example',
      PLATFORM_WEBHOOK_SECRET: '0123456789',
    });
    service = await platformConnector.start({
      config,
      logger: setup.createLogger(),
      health,
      metrics: new Registry(),
    });
    [gateway, monitor] = await Promise.all([connect('gateway'), connect('streamer-monitor')]);
  });

  afterAll(async () => {
    await Promise.all([gateway.close(), monitor.close()]);
    await service.close();
    await nats.stop();
    await setup.stop();
  });

  async function connect(user: 'gateway' | 'streamer-monitor'): Promise<PatientClient> {
    const client = new PatientClient({ urls: [nats.urlFor(user)], name: user });
    await client.connect();
    return client;
  }

  const request = (more: Partial<LookUpUsersRequest> = {}): LookUpUsersRequest => ({
    ids: ['1'],
    logins: [],
    priority: 'interactive',
    ...more,
  });

  it('looks up users and streams for other services', async () => {
    setup.fake.answers.set('GET /api/users', () => [200, { data: [{ id: '1', login: 'ada' }] }]);
    setup.fake.answers.set('GET /api/streams', () => [200, { data: [] }]);

    expect(await gateway.request(lookUpUsers, request())).toEqual({
      users: [{ id: '1', login: 'ada', displayName: 'ada' }],
    });
    expect(await monitor.request(lookUpStreams, { userIds: ['1'] })).toEqual({
      streams: [],
      askedAt: expect.any(Number),
    });
  });

  it('looks up at most 100 users per request', async () => {
    const names = (count: number, prefix: string) =>
      Array.from({ length: count }, (_, index) => `${prefix}${index}`);
    await gateway.request(lookUpUsers, request({ ids: names(50, '1'), logins: names(50, 'user_') }));
    const { query } = setup.fake.calls.at(-1)!;
    expect([query.getAll('id').length, query.getAll('login').length]).toEqual([50, 50]);
    const tooMany = request({ ids: names(50, '1'), logins: names(51, 'user_') });

    await expect(gateway.request(lookUpUsers, tooMany)).rejects.toMatchObject({
      code: 'invalid',
      errors: { logins: ['must be at most 100, counted together with ids'] },
    });
    await expect(monitor.request(lookUpStreams, { userIds: names(101, '1') })).rejects.toMatchObject({
      code: 'invalid',
    });
  });

  it('reports the status', async () => {
    expect(await gateway.request(getPlatformStatus, {})).toEqual({
      platform: 'simulator',
      credentials: { present: true, valid: true, tokenExpiresAt: expect.any(Number) },
      budget: { limit: 800, remaining: expect.any(Number), blockedUntil: null },
      circuit: 'closed',
      subscriptions: {},
      cost: null,
      streamers: { monitored: 0, subscribed: 0, polledOnly: 0 },
      transport: { method: 'webhook', moved: 0, total: 0, problem: null, conduit: null },
      callback: expect.stringMatching(
        /^https:\/\/events.example\/api\/v1\/platform-events\/webhook\/keys\/[0-9a-f]{8}$/,
      ),
      webhookSecret: { moved: 0, total: 0, canRemoveOthers: false, problem: null },
      deliveryGaps: [],
      alarms: [],
      lastError: null,
    });
  });

  it('replies with unavailable before the caller times out, and stays ready, while the platform is slow', async () => {
    setup.fake.fault = (_call, response) => answerLate(response, 60_000);
    // The connector's limit is only 0.5 s below the contract's timeout (see `retry-schedule.spec.ts`). On a busy machine, that margin is
    // too small to show that the connector gives up first. Use limits with a larger margin.
    setLimits('users', { totalMs: 6_000, attemptMs: 5_000 });
    const error: unknown = await gateway.request(lookUpUsers, request()).catch((thrown: unknown) => thrown);

    // If the caller had timed out, this would be its error instead.
    expect(error).toMatchObject({
      code: 'unavailable',
      detail: 'The platform did not reply in time.',
      retryAfterSeconds: 5,
    });
    await eventually(async () => expect(await health.report()).toMatchObject({ status: 'ok' }));
    await eventually(async () => {
      const { lastError } = await gateway.request(getPlatformStatus, {});
      expect(lastError?.message).toBe('The platform did not reply in time.');
    });
  });
});
