import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { jest } from '@jest/globals';
import { reconcileSubscriptions } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup, type ConnectorInstance } from '../../test/reconciler-setup.js';
import { StandInPlatform } from '../../test/stand-in-platform.js';
import { callback, webhook } from '../../test/subscription-factory.js';

const both = (...streamers: string[]): string[] =>
  streamers.flatMap((id) => [`stream.offline ${id}`, `stream.online ${id}`]).sort();
// Long, because a test can wait several times for hundreds of subscriptions, or for a lease of 10 s to expire.
jest.setTimeout(180_000);
const online = (streamer: string) => ({
  type: 'stream.online',
  version: '1',
  condition: { broadcaster_user_id: streamer },
  cost: 1,
  status: 'enabled',
  transport: webhook(callback),
});

describe('Reconciler', () => {
  let setup: ReconcilerSetup;

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(() => setup.reset());

  afterAll(() => setup.close());

  const hint = () => setup.gateway.request(reconcileSubscriptions, {});
  const untilSubscribed = (...names: string[]) =>
    eventually(() => expect(setup.platform.names(callback)).toEqual(names));
  const untilStatuses = (statuses: Record<string, string>) =>
    eventually(async () => expect(await setup.statuses()).toEqual(statuses));
  const monitor = async (...streamers: string[]): Promise<ConnectorInstance> => {
    setup.monitored.ids = streamers;
    const instance = await setup.startInstance();
    await untilSubscribed(...both(...streamers));
    return instance;
  };

  it('subscribes to every streamer, follows hints, and deletes subscriptions of removed streamers', async () => {
    const { metrics } = await monitor('1', '2');

    setup.monitored.ids = ['1', '3'];
    await hint();
    await untilSubscribed(...both('1', '3'));
    await untilStatuses(Object.fromEntries(both('1', '3').map((name) => [name, 'enabled'])));
    expect([...setup.platform.creations.values()]).toEqual(Array.from({ length: 6 }, () => 1));

    await eventually(async () => {
      const text = await metrics.metrics();
      expect(text).toContain('platform_subscriptions{status="enabled"} 4');
      expect(text).toContain('platform_subscription_actions_total{action="create",result="done"} 6');
      expect(text).toContain('platform_subscription_actions_total{action="delete",result="done"} 2');
      expect(text).toMatch(/platform_subscriptions_reconciled_timestamp_seconds \d/);
    });
  });

  it('records the result of a verification, and recreates a failed subscription, after a pause when it fails again', async () => {
    setup.monitored.ids = ['1'];
    setup.platform.newStatus = 'webhook_callback_verification_pending';
    setup.platform.verifiedStatus = 'webhook_callback_verification_failed';
    await setup.startInstance();

    // The first retry is immediate; the second comes after a minute.
    await eventually(() => expect([...setup.platform.creations.values()]).toEqual([2, 2]));
    await eventually(() => expect(setup.platform.names(callback)).toEqual([]));
    await untilStatuses({
      'stream.online 1': 'webhook_callback_verification_failed',
      'stream.offline 1': 'webhook_callback_verification_failed',
    });

    setup.platform.verifiedStatus = 'enabled';
    await setup.passTime();
    await untilStatuses({ 'stream.online 1': 'enabled', 'stream.offline 1': 'enabled' });
    expect([...setup.platform.creations.values()]).toEqual([3, 3]);
  });

  it.each([true, false])(
    'adopts a subscription that the platform reports as existing (with its id: %s)',
    async (saysId) => {
      await monitor('1');
      setup.platform.saysIdOnConflict = saysId;
      // Simulate another instance that created this subscription but could not save it.
      setup.monitored.ids = ['1', '2'];
      const made = setup.platform.add(online('2'));
      await hint();

      await untilStatuses(Object.fromEntries(both('1', '2').map((name) => [name, 'enabled'])));
      expect(setup.platform.subscriptions.has(made.id)).toBe(true);
      expect(setup.platform.names(callback)).toEqual(both('1', '2'));
    },
  );

  it('recreates everything at once after a restart, if the platform has lost it, no matter what failed before', async () => {
    setup.platform.newStatus = 'webhook_callback_verification_pending';
    setup.platform.verifiedStatus = setup.platform.newStatus;
    const first = await monitor('41', '42', '43');
    await first.stop();
    await setup.dataSource.query('UPDATE subscriptions SET attempts = 7');
    const paused = `subscription_id = NULL, retry_at = now() + interval '50 minutes'`;
    for (const [status, streamer] of [
      ['refused', '42'],
      ['waiting', '43'],
    ])
      await setup.dataSource.query(
        `UPDATE subscriptions SET status = $1, ${paused} WHERE condition->>'broadcaster_user_id' = $2`,
        [status, streamer],
      );

    setup.platform = new StandInPlatform();
    await setup.startInstance();
    await untilSubscribed(...both('41', '42', '43'));
    await untilStatuses(Object.fromEntries(both('41', '42', '43').map((name) => [name, 'enabled'])));
  });

  it('keeps its subscriptions when the pages of a listing overlap', async () => {
    setup.platform.pageOverlap = 30;
    const { metrics } = await monitor(...Array.from({ length: 60 }, (_, index) => `${700 + index}`));
    for (let listing = 0; listing < 3; listing += 1) {
      await setup.passTime();
      await untilRoundAfterNow();
    }

    expect(await metrics.metrics()).not.toContain('action="delete"');
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
  });

  it('keeps its subscriptions when a single listing reports no room for them', async () => {
    const { metrics } = await monitor('77');
    const { listings } = setup.platform;
    setup.platform.nextMaxCosts.push(0);
    await setup.passTime();
    await eventually(() => expect(setup.platform.listings).toBeGreaterThan(listings + 1));
    await untilRoundAfterNow();

    expect(await metrics.metrics()).not.toContain('action="delete"');
    expect(setup.platform.names(callback)).toEqual(both('77'));
  });

  it('records why the platform refused a subscription, and retries only after the pause', async () => {
    setup.platform.unknownStreamers.add('2');
    setup.monitored.ids = ['1', '2'];
    await setup.startInstance();
    await untilStatuses({
      'stream.online 1': 'enabled',
      'stream.offline 1': 'enabled',
      'stream.online 2': 'refused',
      'stream.offline 2': 'refused',
    });
    const [row] = await setup.dataSource.query<{ reason: string; seconds: number }[]>(
      `SELECT reason, extract(epoch FROM retry_at - now())::float AS seconds FROM subscriptions WHERE status = 'refused'`,
    );
    expect(row?.reason).toContain('unknown user');
    expect(row?.seconds).toBeGreaterThan(30);

    setup.platform.unknownStreamers.clear();
    await setup.passTime();
    await untilSubscribed(...both('1', '2'));
  });

  it('continues when the platform fails for some subscriptions, and retries those after the pause', async () => {
    setup.platform.failingStreamers.add('1').add('2').add('3');
    setup.monitored.ids = ['1', '2', '3', '4', '5'];
    await setup.startInstance();
    await untilSubscribed(...both('4', '5'));
    await untilStatuses({
      ...Object.fromEntries(both('1', '2', '3').map((name) => [name, 'waiting'])),
      ...Object.fromEntries(both('4', '5').map((name) => [name, 'enabled'])),
    });
    await eventually(async () => {
      const rows = await setup.dataSource.query<{ reason: string | null }[]>(
        `SELECT reason FROM subscriptions WHERE status = 'waiting' AND retry_at > now()`,
      );
      const failed = expect.stringContaining('The platform failed with status 500.');
      expect(rows).toEqual(Array.from({ length: 6 }, () => ({ reason: failed })));
    });

    setup.platform.failingStreamers.clear();
    await setup.passTime();
    await untilSubscribed(...both('1', '2', '3', '4', '5'));
  });

  it('deletes nothing while the streamer monitor is unavailable or its list is incomplete', async () => {
    setup.monitored.pageSize = 2;
    await monitor('1', '2', '3');

    setup.monitored.ids = ['1', '2', '3', '4'];
    setup.monitored.failsFromPage = 1;
    await setup.passTime();
    await untilRoundAfterNow();
    expect(setup.platform.names(callback)).toEqual(both('1', '2', '3'));

    await setup.stopMonitor();
    await setup.passTime();
    await untilRoundAfterNow();
    expect(setup.platform.names(callback)).toEqual(both('1', '2', '3'));

    setup.monitored.failsFromPage = Infinity;
    await setup.startMonitor();
    await untilSubscribed(...both('1', '2', '3', '4'));
    setup.monitored.pageSize = 1_000;
  });

  it('saves the desired subscriptions while the platform is down, and creates them when it is back', async () => {
    await monitor('1');
    setup.platform.isAway = true;
    setup.monitored.ids = ['2', '3'];
    await setup.passTime();
    await untilStatuses({
      ...Object.fromEntries(both('1').map((name) => [name, 'enabled'])),
      ...Object.fromEntries(both('2', '3').map((name) => [name, 'waiting'])),
    });

    setup.platform.isAway = false;
    await untilSubscribed(...both('2', '3'));
  });

  it('creates each subscription once with several instances, which take turns', async () => {
    setup.monitored.ids = Array.from({ length: 200 }, (_, index) => `${index}`);
    await Promise.all([setup.startInstance(), setup.startInstance(), setup.startInstance()]);
    await untilSubscribed(...both(...setup.monitored.ids));
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
    expect(setup.platform.creations.size).toBe(400);
  });

  it('continues within seconds when the working instance is cut off', async () => {
    setup.monitored.ids = Array.from({ length: 50 }, (_, index) => `${index}`);
    let answers = 0;
    let release = (): void => undefined;
    const isReleased = new Promise<void>((resolve) => (release = resolve));
    // The platform has created four subscriptions, but holds back its replies.
    setup.platform.beforeCreationAnswer = async () => {
      answers += 1;
      if (answers > 20 && answers <= 24) await isReleased;
    };
    const first = await setup.startInstance();
    await eventually(() => expect(answers).toBe(24));
    await setup.startInstance();
    await first.cutOff();
    release();

    await untilSubscribed(...both(...setup.monitored.ids));
    await untilStatuses(Object.fromEntries(both(...setup.monitored.ids).map((name) => [name, 'enabled'])));
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
  });

  it('stops during a round when another instance has taken the lease', async () => {
    setup.monitored.ids = Array.from({ length: 500 }, (_, index) => `${index}`);
    setup.platform.beforeCreationAnswer = () => wait(100);
    await setup.startInstance();
    await eventually(() => expect(setup.platform.creations.size).toBeGreaterThan(10));

    const other = randomUUID();
    await setup.dataSource.query('UPDATE reconciliation SET holder = $1', [other]);
    // Keep the foreign lease for longer than the 2.5 s within which the instance notices the loss.
    await eventually(async () => {
      await setup.dataSource.query(
        `UPDATE reconciliation SET held_until = now() + interval '10 seconds' WHERE holder = $1`,
        [other],
      );
      expect(performance.now() - setup.platform.lastCreationAt).toBeGreaterThan(3_000);
    });
    expect(setup.platform.creations.size).toBeLessThan(1_000);

    // The instance with this lease does not exist. It counts as dead once the lease has expired.
    setup.platform.beforeCreationAnswer = () => Promise.resolve();
    await setup.dataSource.query('UPDATE reconciliation SET held_until = now() WHERE holder = $1', [other]);
    await untilSubscribed(...both(...setup.monitored.ids));
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
  });

  it('hands the round over immediately when it is stopped', async () => {
    setup.monitored.ids = Array.from({ length: 300 }, (_, index) => `${index}`);
    // Stop while four calls are in flight and most subscriptions are missing.
    let release = (): void => undefined;
    const isStopping = new Promise<void>((resolve) => (release = resolve));
    setup.platform.beforeCreationAnswer = async () => {
      if (setup.platform.creations.size <= 10) return;
      await isStopping;
      await wait(100);
    };
    const first = await setup.startInstance();
    await eventually(() => expect(setup.platform.creations.size).toBeGreaterThan(10));
    const stopped = first.stop();
    release();
    await stopped;
    expect(setup.platform.creations.size).toBeLessThan(600);
    const [row] = await setup.dataSource.query<{ isFree: boolean }[]>(
      'SELECT holder IS NULL AND due_at <= now() AS "isFree" FROM reconciliation',
    );
    expect(row?.isFree).toBe(true);

    setup.platform.beforeCreationAnswer = () => Promise.resolve();
    await setup.startInstance();
    await untilSubscribed(...both(...setup.monitored.ids));
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
  });

  it('gives the oldest 5,000 of 6,000 streamers both subscriptions under a limit of 10,000, never exceeding it', async () => {
    setup.monitored.ids = Array.from({ length: 6_000 }, (_, index) => `${index}`);
    const instance = await setup.startInstance();
    const expected = both(...setup.monitored.ids.slice(0, 5_000));
    await eventually(() => expect(setup.platform.subscriptions.size).toBe(10_000), { timeoutMs: 240_000, intervalMs: 1_000 }); // prettier-ignore
    await eventually(
      async () => {
        expect((await instance.status.read()).streamers).toEqual({ monitored: 6_000, subscribed: 5_000, polledOnly: 1_000 }); // prettier-ignore
      },
      { timeoutMs: 60_000 },
    );
    expect(setup.platform.names(callback)).toEqual(expected);
    expect(await instance.status.read()).toMatchObject({
      subscriptions: { enabled: 10_000, limit_reached: 2_000 },
      cost: { total: 10_000, max: 10_000 },
    });

    // When the oldest streamer is removed, the next one takes its place.
    setup.monitored.ids = setup.monitored.ids.slice(1);
    await hint();
    await eventually(() => expect(setup.platform.names(callback)).toEqual(both(...setup.monitored.ids.slice(0, 5_000))), { timeoutMs: 180_000, intervalMs: 1_000 }); // prettier-ignore
    expect(setup.platform.highestCost).toBe(10_000);
    expect(new Set(setup.platform.creations.values())).toEqual(new Set([1]));
  }, 600_000);

  it('creates no subscriptions without a public URL and an application, and still counts the monitored streamers', async () => {
    setup.monitored.ids = ['1', '2'];
    const instance = await setup.startInstance({ PUBLIC_URL: '' });
    await eventually(async () =>
      expect(await instance.status.read()).toEqual({
        subscriptions: {},
        transport: { method: null, moved: 0, total: 0, problem: null },
        cost: null,
        streamers: { monitored: 2, subscribed: 0, polledOnly: 2 },
        webhookSecret: null,
      }),
    );
    expect(setup.platform.subscriptions.size).toBe(0);
  });

  /** Waits until the round that `passTime` made due has ended. */
  async function untilRoundAfterNow(): Promise<void> {
    await eventually(async () => {
      const [row] = await setup.dataSource.query<{ done: boolean }[]>(
        'SELECT holder IS NULL AND due_at > now() AS done FROM reconciliation',
      );
      expect(row?.done).toBe(true);
    });
  }
});
