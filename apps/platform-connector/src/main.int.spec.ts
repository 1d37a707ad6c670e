import { listSubscriptions, natsUsers, reconcileSubscriptions } from '@stream-events/contracts';
import {
  createTestDatabase,
  eventually,
  freePort,
  ServiceProcess,
  startTestNats,
  type TestDatabase,
  type TestNats,
} from '@stream-events/testing';
import { PatientClient } from '../test/patient-client.js';
import { MonitoredList, startStandInMonitor } from '../test/stand-in-streamer-monitor.js';

const patiently = { timeoutMs: 60_000 };

describe('platform connector as a process', () => {
  let nats: TestNats;
  let database: TestDatabase;
  let gateway: PatientClient;
  let monitor: { close(): Promise<void> };
  let connector: ServiceProcess;
  const monitored = new MonitoredList();

  beforeAll(async () => {
    nats = await startTestNats(Object.values(natsUsers));
    database = await createTestDatabase();
    gateway = new PatientClient({ urls: [nats.urlFor('gateway')], name: 'test' });
    await gateway.connect();
    monitor = await startStandInMonitor(nats.urlFor('streamer-monitor'), monitored);
    connector = new ServiceProcess('platform-connector', {
      DATABASE_URL: database.urlFor('platform_connector'),
      NATS_URL: nats.urlFor('platform-connector'),
      ADMIN_PORT: `${await freePort()}`,
      SECRET_KEY: 'k'.repeat(32),
      PLATFORM: 'simulator',
      // Nothing listens on these ports.
      PLATFORM_API_URL: `http://127.0.0.1:${await freePort()}/api`,
      PLATFORM_AUTH_URL: `http://127.0.0.1:${await freePort()}/oauth2`,
      PUBLIC_URL: 'http://127.0.0.1:8000',
      PLATFORM_WEBHOOK_SECRET: 'signs-what-comes',
    });
  });

  afterAll(async () => {
    await connector.stop();
    await monitor.close();
    await gateway.close();
    await nats.stop();
    await database.drop();
  });

  it('starts and is ready while the platform is down, reports waiting subscriptions, and stops cleanly', async () => {
    monitored.ids = ['1'];
    const startedAt = performance.now();
    await connector.start();
    const startMs = performance.now() - startedAt;
    await eventually(async () => {
      const { subscriptions, count } = await gateway.request(listSubscriptions, { pageSize: 100 });
      // The types that are active by default on the simulated platform. Raids have two subscriptions, one per direction. The types about
      // consent have one for the whole application.
      expect(count).toBe(17);
      expect(new Set(subscriptions.map(({ status }) => status))).toEqual(new Set(['waiting']));
    }, patiently);

    monitored.ids = ['1', '2'];
    await gateway.request(reconcileSubscriptions, {});
    await eventually(async () => expect(await connector.metric('platform_subscriptions', { status: 'waiting' })).toBe(32), patiently); // prettier-ignore

    const stoppedAt = performance.now();
    expect(await connector.kill('SIGTERM')).toEqual({ code: 0, signal: null });
    // On a busy machine, both the start and the stop take longer.
    expect(performance.now() - stoppedAt).toBeLessThan(Math.max(8_000, 2 * startMs));
  }, 240_000);
});
