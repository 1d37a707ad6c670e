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

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger; // Safe cast: nothing else is used.
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

  /** Starts an instance of the checks. `checked` counts how often it has run them. */
  function start() {
    const repository = new AlarmsRepository(
      dataSource,
      new AlarmPosts(dataSource, null),
      silent,
      new Registry(),
    );
    const alarms = new Alarms((report) => repository.save(report), silent);
    const subscriptions = new SubscriptionAlarms(dataSource, repository, alarms, times);
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

  const addRefused = (): Promise<unknown> =>
    dataSource.query(
      `INSERT INTO subscriptions (id, type, version, condition, status, attempts)
       VALUES ($1, 'channel.follow', '2', '{}', 'refused', 2)`,
      [v7()],
    );
  const untilOpen = ({ repository }: { repository: AlarmsRepository }, ...keys: string[]): Promise<void> =>
    eventually(async () => {
      const { open } = await repository.list();
      expect(open.map(({ key }) => key).sort()).toEqual(keys);
    });

  it('checks in one instance at a time, and in another one when the first stops; alarms stay open meanwhile', async () => {
    await addRefused();
    const first = start();
    await untilOpen(first, 'subscription_not_enabled');
    const [{ id } = { id: '' }] = (await first.repository.list()).open;
    const second = start();
    await eventually(() => expect(first.checked).toBeGreaterThan(5));
    expect(second.checked).toBe(0);
    await first.stop();
    await eventually(() => expect(second.checked).toBeGreaterThan(5));
    expect((await second.repository.list()).open).toMatchObject([{ id }]);
  });
});
