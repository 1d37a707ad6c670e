import type { INestMicroservice } from '@nestjs/common';
import { takeAdvisoryLock } from '@stream-events/database';
import { RequestClient } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, type TestNats } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { metricOf, startMonitorNats } from '../../test/monitor-process.js';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, listed, online } from '../../test/facts.js';
import { StandInPlatform, startStandInConnector } from '../../test/stand-in-services.js';
import type { Streamer } from '../streamers/streamer.entity.js';
import { ClaimsRepository } from './claims.repository.js';
import { UsernameRefresh } from './username-refresh.service.js';
import { Poller } from './poller.service.js';

const second = 1_000;
let store: MonitorStore;
let nats: TestNats;
let platform: StandInPlatform;
let connector: INestMicroservice;
let client: RequestClient;
let claims: ClaimsRepository;

beforeAll(async () => {
  [store, nats] = await Promise.all([MonitorStore.create(), startMonitorNats()]);
  client = new RequestClient({ urls: [nats.urlFor('streamer-monitor')], name: 'test' });
  await client.connect();
  claims = new ClaimsRepository(store.dataSource);
});
afterAll(async () => {
  await client.close();
  await Promise.all([store.close(), nats.stop()]);
});
beforeEach(async () => {
  await store.clear();
  platform = new StandInPlatform();
  connector = await startStandInConnector(nats, platform);
});
afterEach(() => connector.close());

function createPoller(repository = claims): { poller: Poller; metrics: Registry } {
  const metrics = new Registry();
  const logger = createLogger('test', 'silent');
  return { poller: new Poller(repository, client, store.polls, logger, metrics), metrics };
}

/** Adds streamers that are due and were not live when last polled. */
async function addStreamers(count: number): Promise<void> {
  await store.dataSource.query(
    `INSERT INTO streamers SELECT (lpad(to_hex(n), 12, '0') || '7000' || '8000000000000000')::uuid, 'u' || n, n::text, now(), false,
       true, false, now(), now(), now() - interval '45 seconds', now() - interval '45 seconds', now() - n * interval '1 millisecond',
       now() + interval '1 hour' FROM generate_series(1, $1) AS n`,
    [count],
  );
  await store.dataSource.query('ANALYZE streamers');
}

/** Makes streamers due earlier, as if this many seconds had passed; by default all streamers. */
async function pass(seconds: number, streamer?: Streamer): Promise<void> {
  await store.dataSource.query(
    `UPDATE streamers SET next_poll_at = next_poll_at - $1 * interval '1 second',
       next_naming_at = next_naming_at - $1 * interval '1 second'
     WHERE $2::uuid IS NULL OR id = $2`,
    [seconds, streamer?.id ?? null],
  );
}

async function makeDue(inSeconds: number, { id }: Streamer, dataSource = store.dataSource): Promise<void> {
  await dataSource.query(
    `UPDATE streamers SET next_poll_at = now() + $1 * interval '1 second' WHERE id = $2`,
    [inSeconds, id],
  );
}

async function countWaiting(condition: string): Promise<number> {
  const [row] = await store.dataSource.query<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM streamers WHERE ${condition}`,
  );
  return row!.count;
}

describe(Poller.name, () => {
  it('polls 1,000 streamers in 10 calls on two instances, none twice, and recovers the claims of an instance that dies', async () => {
    await addStreamers(1_000);
    const startedAt = new Date().toISOString();
    // All that a killed instance leaves behind are its claims.
    const lost = [await claims.claimPolls(), await claims.claimPolls()];
    const lostUntil = Math.max(...lost.map(({ claimedUntil }) => claimedUntil));
    expect(lostUntil).toBeLessThanOrEqual(Date.now() + 30 * second);
    const isLost = `next_poll_at <= '${new Date(lostUntil).toISOString()}'`;
    const instances = [createPoller(), createPoller()];
    const readShares = (): Promise<number[]> =>
      Promise.all(
        instances.map(({ metrics }) =>
          metricOf(metrics, 'streamer_monitor_poll_batches_total', { outcome: 'done' }),
        ),
      );
    // Waits until the batches are recorded; a batch that is not recorded would become due again after 30 s, like the batches of the dead
    // instance.
    const untilDone = (batches: number): Promise<void> =>
      eventually(async () => {
        const [one, other] = await readShares();
        expect(one! + other!).toBe(batches);
      });
    // Hold back all replies until both instances have looked up two batches each, so that each gets a share.
    let reply = (): void => undefined;
    platform.gate = new Promise((resolve) => (reply = resolve));
    for (const { poller } of instances) poller.start();
    await eventually(() => expect(platform.streamLookUps.length).toBe(4));
    reply();
    await untilDone(8);
    expect(platform.streamLookUps).toHaveLength(8);

    // When the claims expire, only the dead instance's streamers are due again.
    expect(await countWaiting(isLost)).toBe(200);
    await store.dataSource.query(`UPDATE streamers SET next_poll_at = now() WHERE ${isLost}`);
    await untilDone(10);
    expect(platform.streamLookUps).toHaveLength(10);
    expect(await countWaiting(isLost)).toBe(0);
    await Promise.all(instances.map(({ poller }) => poller.stop()));

    expect(platform.streamLookUps.every((userIds) => userIds.length === 100)).toBe(true);
    expect(new Set(platform.streamLookUps.flat()).size).toBe(1_000);
    const rescued = platform.streamLookUps.slice(8).flat();
    expect(rescued.sort()).toEqual(
      lost.flatMap(({ streamers }) => streamers.map(({ platformId }) => platformId)).sort(),
    );
    expect(Math.min(...(await readShares()))).toBeGreaterThan(1);
    const all = await Promise.all(
      instances.map(({ metrics }) => metricOf(metrics, 'streamer_monitor_polls_claimed_total')),
    );
    expect(all[0]! + all[1]!).toBe(1_000);
    expect(await countWaiting(`polled_at < '${startedAt}'`)).toBe(0);
  });

  it('finds due streamers by an index', async () => {
    await addStreamers(10_000);
    await pass(-3_600);
    const statements: string[] = [];
    const query = (sql: string, parameters?: unknown[]): Promise<unknown> => {
      if (sql.includes('streamers')) statements.push(sql);
      return store.dataSource.query(sql, parameters);
    };
    const transaction = (work: (manager: object) => Promise<unknown>) => work({ query });
    const spied: unknown = { query, transaction };
    const spying = new ClaimsRepository(spied as DataSource); // Safe cast: the repository only calls these two methods.
    await spying.claimPolls();
    await spying.claimUsernames();

    expect(statements).toHaveLength(4);
    for (const sql of statements) {
      const plan = JSON.stringify(await store.dataSource.query(`EXPLAIN ${sql}`));
      expect(plan).toMatch(/streamers_next_(poll|naming)_index/);
      expect(plan).not.toContain('Seq Scan on streamers');
    }
  });

  it('waits until a streamer is due, and then also polls streamers that are due within 5 s', async () => {
    const [due, soon, later] = [
      await store.addStreamer(),
      await store.addStreamer(),
      await store.addStreamer(),
    ];
    const claimed = await store.stopClock(async (dataSource) => {
      const stopped = new ClaimsRepository(dataSource);
      await makeDue(60, due, dataSource);
      await makeDue(4.9, soon, dataSource);
      await makeDue(5.1, later, dataSource);
      expect(await createPoller(stopped).poller.pollBatch()).toBe(0);
      await makeDue(0, due, dataSource);
      return stopped.claimPolls();
    });
    expect(claimed.streamers.map(({ id }) => id).sort()).toEqual([due.id, soon.id].sort());

    const { poller } = createPoller();
    await makeDue(60, later);
    await makeDue(4.9, soon);
    await makeDue(0, due);
    expect(await poller.pollBatch()).toBe(2);

    expect(platform.streamLookUps.map((userIds) => userIds.sort())).toEqual([
      [soon.platformId, due.platformId].sort(),
    ]);
    expect((await store.streamer(later)).polledAt).toBeNull();
    expect(await poller.pollBatch()).toBe(0);
  });

  it('keeps streamers due while look-ups fail, and continues when the connector is back', async () => {
    const streamer = await store.addStreamer();
    platform.isAway = true;
    const { poller, metrics } = createPoller();
    poller.start();
    await eventually(async () =>
      expect(
        await metricOf(metrics, 'streamer_monitor_poll_batches_total', { outcome: 'failed' }),
      ).toBeGreaterThan(1),
    );
    platform.streams = [listed(streamer, 's1', 0)];
    platform.isAway = false;

    await eventually(async () => expect((await store.streamer(streamer)).streaming).toBe(true));
    await poller.stop();
  });

  it('measures how long a streamer has been waiting, also while look-ups fail', async () => {
    expect(await claims.measureLag()).toBe(0);
    await store.addStreamer({ polledAt: new Date(Date.now() - 600 * second) });
    await store.addStreamer({ polledAt: new Date(Date.now() - 1_000 * second), disabled: true });
    platform.isAway = true;
    await expect(createPoller().poller.pollBatch()).rejects.toMatchObject({ code: 'unavailable' });

    const lag = await claims.measureLag();

    expect(lag).toBeGreaterThanOrEqual(555);
    expect(lag).toBeLessThan(955);
  });

  it('keeps streamers due while no connector is running', async () => {
    const streamer = await store.addStreamer();
    await connector.close();
    const { poller } = createPoller();

    await expect(poller.pollBatch()).rejects.toMatchObject({ code: 'unavailable' });
    connector = await startStandInConnector(nats, platform);

    await eventually(async () => expect(await poller.pollBatch()).toBe(1));
    expect((await store.streamer(streamer)).polledAt).not.toBeNull();
  });

  it('records a stream from start to end without any event', async () => {
    const streamer = await store.addStreamer();
    const { poller } = createPoller();
    const pollAt = async (at: number, isLive: boolean): Promise<void> => {
      platform.now = () => epoch + at;
      platform.streams = isLive ? [listed(streamer, 's1', -60 * second, { viewerCount: at })] : [];
      await pass(45);
      expect(await poller.pollBatch()).toBeGreaterThan(0);
    };
    await pollAt(0, false);
    for (const at of [45 * second, 90 * second, 135 * second]) await pollAt(at, true);
    expect(await store.streamer(streamer)).toMatchObject({ streaming: true });
    expect(await store.streamsOf(streamer)).toMatchObject([{ viewerCount: 135 * second, endedAt: null }]);
    await pollAt(180 * second, false);
    // The streamer is due again in 25.5 s instead of 45 s, and no batch may include it before a second miss counts. Start after 1 s: on a
    // slow machine, a later batch could rightly include the streamer.
    for (const [at, sinceLast] of [
      [181 * second, 1],
      [201 * second, 20],
    ] as const) {
      await store.addStreamer();
      await pass(sinceLast - 45);
      await pollAt(at, false);
    }

    expect(await store.streamsOf(streamer)).toMatchObject([
      { streamId: 's1', startedAt: new Date(epoch - 60 * second), endedAt: new Date(epoch + 180 * second) },
    ]);
    expect(await store.streamer(streamer)).toMatchObject({ streaming: false });
  });

  it('continues when the clocks of the database and the connector were ahead by an hour and are set back', async () => {
    const streamer = await store.addStreamer();
    const { poller } = createPoller();
    const hour = 3_600 * second;
    const pollAt = async (at: number, isLive: boolean): Promise<void> => {
      platform.now = () => epoch + at;
      platform.streams = isLive ? [listed(streamer, 's1', -hour)] : [];
      expect(await poller.pollBatch()).toBe(1);
      expect(await store.streamer(streamer)).toMatchObject({ polledAt: new Date(epoch + at) });
    };
    await pollAt(hour, true);

    await pass(-3_600);
    await pollAt(0, false);
    await pass(45);
    await pollAt(45 * second, false);

    expect(await store.streamsOf(streamer)).toMatchObject([{ streamId: 's1', endedAt: new Date(epoch) }]);
    expect(await store.streamer(streamer)).toMatchObject({ streaming: false });
  });

  it('makes an announced stream due immediately, and fills in its title', async () => {
    const streamer = await store.addStreamer({ nextPollAt: new Date(Date.now() + 60 * second) });
    platform.streams = [listed(streamer, 's1', 0)];
    const { poller } = createPoller();
    await store.recorder.recordEvent(online(streamer, 's1', 0));
    expect(await store.streamsOf(streamer)).toMatchObject([{ title: '', viewerCount: 0 }]);

    expect(await poller.pollBatch()).toBe(1);

    expect(await store.streamsOf(streamer)).toMatchObject([{ title: 'hello', viewerCount: 7 }]);
  });

  it('records the rest of a batch when one streamer fails, and polls that streamer again', async () => {
    const [odd, other] = [await store.addStreamer(), await store.addStreamer()];
    platform.streams = [listed(odd, 's1', 0, { startedAt: Number.MAX_SAFE_INTEGER }), listed(other, 's2', 0)];

    await createPoller().poller.pollBatch();

    expect(await store.streamsOf(other)).toMatchObject([{ streamId: 's2' }]);
    expect(await store.streamer(odd)).toMatchObject({ polledAt: null });
    await pass(31, odd);
    expect(await claims.claimPolls()).toMatchObject({ streamers: [{ id: odd.id }] });
  });

  it('claims streamers while the events service creates a partition in the same database', async () => {
    const streamer = await store.addStreamer();
    await store.dataSource.transaction(async (events) => {
      await takeAdvisoryLock(events, 'eventPartitions');

      expect(await claims.claimPolls()).toMatchObject({ streamers: [{ id: streamer.id }] });
    });
  });
});

describe(UsernameRefresh.name, () => {
  it('updates renamed streamers by id, and keeps the spelling of unchanged usernames', async () => {
    const due = { nextNamingAt: new Date() };
    const renamed = await store.addStreamer({ platformUsername: 'Old_Name', ...due });
    const same = await store.addStreamer({ platformUsername: 'MiRa', ...due });
    const gone = await store.addStreamer({ platformUsername: 'Gone', ...due });
    platform.users = [
      { id: renamed.platformId, login: 'new_name', displayName: 'New_Name' },
      { id: same.platformId, login: 'mira', displayName: 'Mira' },
    ];
    const refresh = new UsernameRefresh(
      claims,
      client,
      store.dataSource,
      store.streamers,
      createLogger('test', 'silent'),
    );

    expect(await refresh.checkBatch()).toBe(true);

    const names = await Promise.all([renamed, same, gone].map((streamer) => store.streamer(streamer)));
    expect(names.map(({ platformUsername }) => platformUsername)).toEqual(['new_name', 'MiRa', 'Gone']);
    expect(platform.userLookUps).toMatchObject([{ logins: [], priority: 'background' }]);
    expect(await refresh.checkBatch()).toBe(false);
    await pass(900);
    platform.isAway = true;
    await expect(refresh.checkBatch()).rejects.toMatchObject({ code: 'unavailable' });
    platform.isAway = false;
    await pass(60);
    expect(await refresh.checkBatch()).toBe(true);
    // The clock was an hour ahead and is set back.
    await pass(-3_600);
    expect(await refresh.checkBatch()).toBe(true);
  });

  it('updates a username that was recorded while a clock was ahead', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000);
    const renamed = await store.addStreamer({ namedAt: tomorrow, nextNamingAt: new Date() });
    platform.users = [{ id: renamed.platformId, login: 'new_name', displayName: 'New_Name' }];
    const logger = createLogger('test', 'silent');

    expect(
      await new UsernameRefresh(claims, client, store.dataSource, store.streamers, logger).checkBatch(),
    ).toBe(true);

    const { platformUsername, namedAt } = await store.streamer(renamed);
    expect(platformUsername).toBe('new_name');
    expect(namedAt.getTime()).toBeLessThan(tomorrow.getTime());
  });
});
