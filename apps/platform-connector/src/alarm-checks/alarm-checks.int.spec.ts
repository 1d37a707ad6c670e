import { Alarms, closeAll, type Logger, Registry } from '@stream-events/service';
import { createTestDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { AlarmPosts } from '../alarms/alarm-posts.repository.js';
import { alarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { AlarmChecks } from './alarm-checks.service.js';
import { SubscriptionAlarms } from './subscription-alarms.service.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger; // holds: nothing else is used
const times = { ...alarmTimes, checkMs: 20, holdMs: 100 };

describe(AlarmChecks.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const instances: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 8);
  });
  beforeEach(() => dataSource.query('TRUNCATE alarms, subscriptions'));
  afterEach(() => Promise.all(instances.splice(0).map((instance) => instance.stop())));
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Starts an instance. `checked` counts its checks. */
  function start() {
    const repository = new AlarmsRepository(
      dataSource,
      new AlarmPosts(dataSource, null),
      silent,
      new Registry(),
    );
    const alarms = new Alarms((report) => repository.save(report), silent);
    const subscriptions = new SubscriptionAlarms(dataSource, alarms, times);
    const counted = { checked: 0 };
    const run = subscriptions.run.bind(subscriptions);
    subscriptions.run = () => {
      counted.checked += 1;
      return run();
    };
    const checks = new AlarmChecks(dataSource, [subscriptions], times, silent);
    alarms.start();
    checks.start();
    instances.push({ stop: () => closeAll([() => checks.stop(), () => alarms.stop()]) });
    return Object.assign(counted, { repository, stop: () => instances.shift()?.stop() });
  }

  const add = (status: string, { attempts = 0, age = '1 hour' } = {}): Promise<unknown> =>
    dataSource.query(
      `INSERT INTO subscriptions (id, type, version, condition, status, attempts, status_since)
       VALUES ($1, 'channel.follow', '2', jsonb_build_object('broadcaster_user_id', $1::uuid::text), $2, $3, now() - $4::interval)`,
      [v7(), status, attempts, age],
    );
  const untilOpen = ({ repository }: { repository: AlarmsRepository }, ...keys: string[]): Promise<void> =>
    eventually(async () => {
      const { open } = await repository.list();
      expect(open.map(({ key }) => key).sort()).toEqual(keys);
    });

  it('raises an alarm while subscriptions are not enabled, with their number and an example, and clears it', async () => {
    await add('enabled');
    await add('limit_reached');
    await add('not_granted');
    await add('refused');
    await add('refused');
    const instance = start();
    await untilOpen(instance, 'subscription_not_enabled');
    const [alarm] = (await instance.repository.list()).open;
    expect(alarm?.message).toMatch(
      /not enabled: 2 refused\. For example, channel\.follow with \{"broadcaster_user_id"/,
    );
    await dataSource.query(`UPDATE subscriptions SET status = 'enabled' WHERE status = 'refused'`);
    await untilOpen(instance);
  });

  it('gives a new subscription time, and none to one that has failed', async () => {
    await add('enabled');
    await add('waiting', { age: '-1 hour' });
    await add('webhook_callback_verification_pending', { age: '-1 hour', attempts: 1 });
    const instance = start();
    await untilOpen(instance, 'subscription_not_enabled');
    expect((await instance.repository.list()).open[0]?.message).toMatch(/not enabled: 1 webhook/);
  });

  it('raises an alarm when the webhook cannot be reached', async () => {
    await add('webhook_callback_verification_failed', { attempts: 3 });
    const instance = start();
    await untilOpen(instance, 'subscription_not_enabled', 'transport_down:webhook');
    await dataSource.query(`UPDATE subscriptions SET status = 'enabled'`);
    await untilOpen(instance);
  });

  it('checks in one instance at a time, and in another one when the first stops; alarms stay open meanwhile', async () => {
    await add('refused');
    const first = start();
    await untilOpen(first, 'subscription_not_enabled');
    const [{ id } = { id: '' }] = (await first.repository.list()).open;
    const second = start();
    await eventually(() => expect(first.checked).toBeGreaterThan(5));
    expect(second.checked).toBe(0);
    await first.stop();
    await eventually(() => expect(second.checked).toBeGreaterThan(5), { timeoutMs: 20_000 });
    expect((await second.repository.list()).open).toMatchObject([{ id }]);
  });
});
