import { Alarms, Registry, type Logger } from '@stream-events/service';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { AlarmPosts } from '../alarms/alarm-posts.repository.js';
import { alarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { SubscriptionAlarms } from './subscription-alarms.service.js';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as unknown as Logger; // Safe cast: nothing else is used.
const { holdMs } = alarmTimes;

interface Row {
  attempts?: number;
  /** How long ago the subscription got its status (`age`), and how long ago it was saved (`saved`). */
  age?: string;
  saved?: string;
}

describe(SubscriptionAlarms.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let repository: AlarmsRepository;
  let alarms: Alarms;
  let sut: SubscriptionAlarms;
  let now: number;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 4);
    repository = new AlarmsRepository(dataSource, new AlarmPosts(dataSource, null), silent, new Registry());
  });
  beforeEach(async () => {
    await dataSource.query('TRUNCATE alarms, subscriptions');
    await dataSource.query('UPDATE reconciliation SET completed_at = NULL');
    now = 0;
    alarms = new Alarms((report) => repository.save(report), silent);
    sut = new SubscriptionAlarms(dataSource, repository, alarms, { ...alarmTimes, now: () => now });
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const add = (status: string, { attempts = 0, age = '1 hour', saved = age }: Row = {}): Promise<unknown> =>
    dataSource.query(
      `INSERT INTO subscriptions (id, type, version, condition, status, attempts, status_since, updated_at)
       VALUES ($1, 'channel.follow', '2', jsonb_build_object('broadcaster_user_id', $1::uuid::text), $2, $3,
         now() - $4::interval, now() - $5::interval)`,
      [v7(), status, attempts, age, saved],
    );

  /** Runs a check, and returns the keys of the open alarms. */
  const check = async (): Promise<string[]> => {
    await sut.run();
    await alarms.saveChanges();
    return (await repository.listOpen()).map(({ key }) => key).sort();
  };

  const checkAfterHold = async (): Promise<string[]> => {
    await check();
    now += holdMs;
    return check();
  };

  const message = async (): Promise<string | undefined> => (await repository.listOpen())[0]?.message;

  it('raises an alarm while subscriptions are not enabled, with their number and an example, and clears it', async () => {
    await add('enabled');
    await add('limit_reached', { attempts: 3 });
    await add('not_granted', { attempts: 3 });
    await add('refused', { attempts: 2 });
    await add('refused', { attempts: 2 });

    expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
    expect(await message()).toMatch(
      /not enabled: 2 refused\. For example, channel\.follow with broadcaster_user_id [-\w]+\. See/,
    );
    await dataSource.query(`UPDATE subscriptions SET status = 'enabled' WHERE status = 'refused'`);
    expect(await check()).toEqual([]);
  });

  it('gives a subscription time for a second attempt', async () => {
    await add('refused', { attempts: 1, age: '10 seconds' });
    await add('waiting', { age: '10 seconds' });
    await add('webhook_callback_verification_pending', { attempts: 1, age: '1 second' });
    expect(await checkAfterHold()).toEqual([]);

    await dataSource.query(`UPDATE subscriptions SET attempts = 2 WHERE status = 'refused'`);
    expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
    expect(await message()).toMatch(/not enabled: 1 refused\./);
  });

  it('raises an alarm when an enabled subscription was lost three times in a row, until it has worked for 10 min', async () => {
    await add('enabled', { attempts: 2, age: '2 minutes' });
    await add('enabled', { attempts: 5, age: '11 minutes' });
    expect(await checkAfterHold()).toEqual([]);

    await add('enabled', { attempts: 3, age: '2 minutes' });
    expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
    expect(await message()).toMatch(/not enabled: 1 lost again and again\. For example, channel\.follow/);
    await dataSource.query(`UPDATE subscriptions SET status_since = now() - interval '10 minutes'`);
    expect(await check()).toEqual([]);
  });

  it('raises an alarm when no second attempt follows within 45 s', async () => {
    await add('enabled');
    await add('refused', { attempts: 1, age: '46 seconds' });
    await dataSource.query('UPDATE reconciliation SET completed_at = now()');
    expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
  });

  describe('while thousands of subscriptions are being created', () => {
    beforeEach(async () => {
      await add('enabled', { age: '1 second' });
      await add('waiting', { age: '10 minutes' });
      await add('refused', { attempts: 1, age: '10 minutes', saved: '5 minutes' });
    });

    it('raises no alarm about those whose turn has not come', async () => {
      expect(await checkAfterHold()).toEqual([]);
    });

    it('raises an alarm about those that have failed twice', async () => {
      await add('refused', { attempts: 2, age: '10 minutes' });
      expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
      expect(await message()).toMatch(/not enabled: 1 refused\./);
    });

    it('raises an alarm about all when the reconciler has done what it could', async () => {
      await dataSource.query(`UPDATE reconciliation SET completed_at = now()`);
      expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
      expect(await message()).toMatch(/not enabled: 1 refused, 1 waiting\./);
    });

    it('raises an alarm about all when the reconciler gets nothing done', async () => {
      await dataSource.query(`UPDATE subscriptions SET updated_at = now() - interval '61 seconds'`);
      expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
    });
  });

  it('raises one alarm when the webhook cannot be reached', async () => {
    await add('webhook_callback_verification_failed', { attempts: 3 });
    expect(await checkAfterHold()).toEqual(['transport_down:webhook']);
    await dataSource.query(`UPDATE subscriptions SET status = 'enabled'`);
    expect(await check()).toEqual([]);
  });

  it.each(['transport_down:conduit', 'platform_unavailable:host'])(
    'raises no alarm while %s tells why subscriptions wait, and leaves an open one open',
    async (key) => {
      await add('refused', { attempts: 2 });
      await repository.save({ raised: [{ key, message: 'a cause' }], cleared: [] });
      expect(await checkAfterHold()).toEqual([key]);

      await repository.save({ raised: [], cleared: [key] });
      expect(await check()).toEqual([]);
      expect(await checkAfterHold()).toEqual(['subscription_not_enabled']);
      await repository.save({ raised: [{ key, message: 'a cause' }], cleared: [] });
      expect(await checkAfterHold()).toEqual([key, 'subscription_not_enabled'].sort());
    },
  );
});
