import type { INestMicroservice } from '@nestjs/common';
import { RequestClient } from '@stream-events/messaging';
import { createLogger, Registry } from '@stream-events/service';
import { eventually, type TestNats } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { metricOf, startMonitorNats } from '../../test/monitor-process.js';
import { MonitorStore } from '../../test/monitor-store.js';
import { epoch, listed } from '../../test/said.js';
import { StandInPlatform, startStandInConnector } from '../../test/stand-in-services.js';
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

function createPoller(): { poller: Poller; metrics: Registry } {
  const metrics = new Registry();
  const logger = createLogger('test', 'silent');
  return { poller: new Poller(claims, client, store.polls, logger, metrics), metrics };
}

/** Streamers who are all due, and were found absent before. */
async function addStreamers(count: number): Promise<void> {
  await store.dataSource.query(
    `INSERT INTO streamers SELECT (lpad(to_hex(n), 12, '0') || '7000' || '8000000000000000')::uuid, 'u' || n, n::text, now(), false,
       true, false, now(), now(), now() - interval '45 seconds', now() - interval '45 seconds', now() - n * interval '1 millisecond',
       now() + interval '1 hour' FROM generate_series(1, $1) AS n`,
    [count],
  );
  await store.dataSource.query('ANALYZE streamers');
}

/** As when so many seconds have passed. */
async function pass(seconds: number): Promise<void> {
  await store.dataSource.query(
    `UPDATE streamers SET next_poll_at = next_poll_at - $1 * interval '1 second',
       next_naming_at = next_naming_at - $1 * interval '1 second'`,
    [seconds],
  );
}

async function countWaiting(condition: string): Promise<number> {
  const [row] = await store.dataSource.query<{ count: number }[]>(
    `SELECT count(*)::int AS count FROM streamers WHERE ${condition}`,
  );
  return row!.count;
}

describe(Poller.name, () => {
  it('sweeps 10,000 streamers in 100 calls, shared by two instances, none twice, and loses nothing of one that dies', async () => {
    await addStreamers(10_000);
    const claimedAt = performance.now();
    // A process that is killed has claimed its batches, and that is all of it.
    const lost = [await claims.claimPolls(), await claims.claimPolls()];
    const instances = [createPoller(), createPoller()];
    const readShares = (): Promise<number[]> =>
      Promise.all(
        instances.map(({ metrics }) =>
          metricOf(metrics, 'streamer_monitor_poll_batches_total', { outcome: 'done' }),
        ),
      );
    // Written down, too: until then a batch is due again after 30 s, as those of the dead one are.
    const untilDone = (batches: number): Promise<void> =>
      eventually(async () => {
        const [one, other] = await readShares();
        expect(one! + other!).toBe(batches);
      });
    for (const { poller } of instances) poller.start();
    await untilDone(98);
    expect(platform.streamLookUps).toHaveLength(98);
    expect(await countWaiting(`next_poll_at < now() + interval '5 seconds'`)).toBe(0);

    // 30 s after they were claimed, those of the dead one are due again; the others are not.
    await pass(31 - (performance.now() - claimedAt) / second);
    await untilDone(100);
    expect(platform.streamLookUps).toHaveLength(100);
    expect(await countWaiting(`next_poll_at < now() + interval '5 seconds'`)).toBe(0);
    await Promise.all(instances.map(({ poller }) => poller.stop()));

    expect(platform.streamLookUps.every((userIds) => userIds.length === 100)).toBe(true);
    expect(new Set(platform.streamLookUps.flat()).size).toBe(10_000);
    const rescued = platform.streamLookUps.slice(98).flat();
    expect(rescued.sort()).toEqual(
      lost.flatMap(({ streamers }) => streamers.map(({ platformId }) => platformId)).sort(),
    );
    expect(Math.min(...(await readShares()))).toBeGreaterThan(10);
    const all = await Promise.all(
      instances.map(({ metrics }) => metricOf(metrics, 'streamer_monitor_polls_claimed_total')),
    );
    expect(all[0]! + all[1]!).toBe(10_000);
    expect(await countWaiting(`polled_at < now() - interval '40 seconds'`)).toBe(0);
  }, 60_000);

  it('finds who is due by the index', async () => {
    await addStreamers(10_000);
    await pass(-3_600);
    const statements: string[] = [];
    const query = (sql: string, parameters?: unknown[]): Promise<unknown> => {
      if (sql.includes('streamers')) statements.push(sql);
      return store.dataSource.query(sql, parameters);
    };
    const transaction = (work: (manager: object) => Promise<unknown>) => work({ query });
    const spied: unknown = { query, transaction };
    const spying = new ClaimsRepository(spied as DataSource); // holds: it calls nothing but these
    await spying.claimPolls();
    await spying.claimNames();
    await spying.measureLag();

    expect(statements).toHaveLength(3);
    for (const sql of statements) {
      const plan = JSON.stringify(await store.dataSource.query(`EXPLAIN ${sql}`));
      expect(plan).toMatch(/streamers_next_(poll|naming)_index/);
      expect(plan).not.toContain('Seq Scan on streamers');
    }
  });

  it('waits until one is due, and takes along who is due soon', async () => {
    const { poller } = createPoller();
    const later = await store.addStreamer({ nextPollAt: new Date(Date.now() + 60 * second) });
    const soon = await store.addStreamer({ nextPollAt: new Date(Date.now() + 4.9 * second) });
    expect(await poller.pollBatch()).toBe(0);
    const due = await store.addStreamer();

    expect(await poller.pollBatch()).toBe(2);

    expect(platform.streamLookUps.map((userIds) => userIds.sort())).toEqual([
      [soon.platformId, due.platformId].sort(),
    ]);
    expect((await store.streamer(later)).polledAt).toBeNull();
    expect(await poller.pollBatch()).toBe(0);
  });

  it('keeps who could not be looked up due, and goes on when the connector is back', async () => {
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

  it('keeps who is due when no connector is there at all', async () => {
    const streamer = await store.addStreamer();
    await connector.close();
    const { poller } = createPoller();

    await expect(poller.pollBatch()).rejects.toMatchObject({ code: 'unavailable' });
    connector = await startStandInConnector(nats, platform);

    await eventually(async () => expect(await poller.pollBatch()).toBe(1));
    expect((await store.streamer(streamer)).polledAt).not.toBeNull();
  });

  it('records a stream from its beginning to its end without a single event', async () => {
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
    // Due again in 25 s, not in 45 s: along with others who are due, it is polled ahead, but not before a second miss counts.
    for (const [at, sinceLast] of [
      [196 * second, 16],
      [201 * second, 5],
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

  it('writes down the others when one streamer of a batch fails, who is polled again', async () => {
    const [odd, other] = [await store.addStreamer(), await store.addStreamer()];
    platform.streams = [listed(odd, 's1', 0, { startedAt: Number.MAX_SAFE_INTEGER }), listed(other, 's2', 0)];

    await createPoller().poller.pollBatch();

    expect(await store.streamsOf(other)).toMatchObject([{ streamId: 's2' }]);
    expect(await store.streamer(odd)).toMatchObject({ polledAt: null });
    await pass(31);
    expect(await claims.claimPolls()).toMatchObject({ streamers: [{ id: odd.id }] });
  });
});

describe(UsernameRefresh.name, () => {
  it('follows new names by the id, and keeps the spelling of those that are the same', async () => {
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
  });
});
