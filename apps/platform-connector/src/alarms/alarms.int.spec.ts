import type { ReportAlarmsRequest } from '@stream-events/contracts';
import { Registry, type Logger } from '@stream-events/service';
import { createTestDatabase, eventually, WebhookReceiver, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { AlarmPoster } from './alarm-poster.service.js';
import { AlarmPosts } from './alarm-posts.repository.js';
import { alarmTimes, type PostingTimes } from './alarm-times.js';
import { AlarmsRepository } from './alarms.repository.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

describe(AlarmPoster.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let receiver: WebhookReceiver;
  const posters: AlarmPoster[] = [];
  const logs: string[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 8);
  });
  beforeEach(async () => {
    receiver = await WebhookReceiver.start(secret);
    await dataSource.query('TRUNCATE alarms, alarm_posts');
    logs.length = 0;
  });
  afterEach(async () => {
    await Promise.all(posters.splice(0).map((poster) => poster.stop()));
    receiver.stop();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const note = (fields: { key?: string }, message: string): void =>
    void logs.push(`${message} ${fields.key ?? ''}`);
  const logger = { info: note, warn: note, error: note } as unknown as Logger; // Safe cast: nothing else is used.

  /** Creates the alarm services of one connector, with short times. */
  function setup(posting: Partial<PostingTimes> = {}) {
    const webhook = { url: receiver.url, secret };
    const posts = new AlarmPosts(dataSource, webhook);
    const metrics = new Registry();
    const alarms = new AlarmsRepository(dataSource, posts, logger, metrics);
    const times = { ...alarmTimes, posting: { ...alarmTimes.posting, minPauseMs: 10, ...posting } };
    const poster = new AlarmPoster(posts, webhook, times, logger, metrics);
    posters.push(poster);
    const report = (more: Partial<ReportAlarmsRequest>): Promise<void> =>
      alarms.save({ raised: [], cleared: [], ...more });
    return { alarms, poster, metrics, report };
  }

  const lost = { key: 'shard_lost:3', message: 'Shard 3 is lost.' };
  const untilPosted = (...types: string[]): Promise<void> =>
    eventually(() => expect(receiver.types).toEqual(types));

  it('posts a signed message when an alarm is raised, and one when it is cleared', async () => {
    const { poster, report, alarms, metrics } = setup();
    poster.start();
    await report({ raised: [lost] });
    await report({ raised: [{ ...lost, message: 'Shard 3 is still lost.' }] });
    expect(await metrics.getSingleMetricAsString('alarms_open')).toContain(
      'alarms_open{kind="shard_lost"} 1',
    );
    await untilPosted('alarm.raised');
    await report({ cleared: [lost.key] });
    await report({ cleared: [lost.key] });
    await untilPosted('alarm.raised', 'alarm.cleared');

    const [raised, cleared] = receiver.received;
    expect(raised?.body.data).toEqual({
      id: expect.any(String),
      key: 'shard_lost:3',
      kind: 'shard_lost',
      subject: '3',
      message: 'Shard 3 is lost.',
      raised: expect.stringMatching(/Z$/),
      cleared: null,
    });
    expect(cleared?.body.data).toMatchObject({ id: raised?.body.data.id, cleared: expect.any(String) });
    expect(cleared?.id).not.toBe(raised?.id);
    expect(await alarms.list()).toMatchObject({ open: [], cleared: [{ message: 'Shard 3 is still lost.' }] });
    expect(logs).toEqual(['alarm raised shard_lost:3', 'alarm cleared shard_lost:3']);
  });

  it('tries again with the same id, follows no redirect, and keeps the order', async () => {
    receiver.statuses = [500, 302, 404];
    const { poster, report } = setup();
    await report({ raised: [lost] });
    await report({ cleared: [lost.key] });
    poster.start();

    await untilPosted('alarm.raised', 'alarm.raised', 'alarm.raised', 'alarm.raised', 'alarm.cleared');
    expect(new Set(receiver.received.slice(0, 4).map(({ id }) => id)).size).toBe(1);
    expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/alerts']));
  });

  it('gives up after the last attempt, and goes on with the next message', async () => {
    receiver.statuses = [500, 500, 500];
    const { poster, report, metrics } = setup({ maxAttempts: 3 });
    await report({ raised: [lost] });
    await report({ cleared: [lost.key] });
    poster.start();

    await untilPosted('alarm.raised', 'alarm.raised', 'alarm.raised', 'alarm.cleared');
    const posts = await metrics.getSingleMetricAsString('alarm_posts_total');
    expect(posts).toMatch(/given_up"} 1$/m);
    expect(posts).toMatch(/posted"} 1$/m);
    expect(logs).toContain('cannot post an alarm to ALERT_WEBHOOK_URL, giving up ');
  });

  it('posts each message once when several instances share them', async () => {
    const first = setup();
    await first.report({
      raised: Array.from({ length: 20 }, (_, shard) => ({ ...lost, key: `shard_lost:${shard}` })),
    });
    for (const { poster } of [setup(), setup()]) poster.start();

    await eventually(() => expect(receiver.received.length).toBe(20));
    await eventually(async () => expect(await dataSource.query('SELECT FROM alarm_posts')).toEqual([]));
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(20);
  });

  it('clears alarms that nobody repeats any more', async () => {
    const { poster, report, alarms } = setup();
    poster.start();
    await report({ raised: [lost, { ...lost, key: 'shard_lost:4' }] });
    await dataSource.query(
      `UPDATE alarms SET repeated_at = now() - interval '91 seconds' WHERE key = 'shard_lost:3'`,
    );
    await alarms.expire();

    expect((await alarms.list()).open).toMatchObject([{ key: 'shard_lost:4' }]);
    await untilPosted('alarm.raised', 'alarm.raised', 'alarm.cleared');
  });

  it('has one alarm of a key when instances raise it at the same time, and 200 at most', async () => {
    const { report, alarms } = setup();
    const all = Array.from({ length: 120 }, (_, shard) => ({ ...lost, key: `shard_lost:${shard}` }));
    await Promise.all(Array.from({ length: 6 }, () => report({ raised: all.toReversed() })));
    expect((await alarms.list()).open).toHaveLength(120);
    await report({ raised: all.map(({ message }, index) => ({ key: `channel_silent:${index}`, message })) });

    expect((await alarms.list()).open).toHaveLength(200);
    expect(await dataSource.query('SELECT FROM alarm_posts')).toHaveLength(200);
  });
});
