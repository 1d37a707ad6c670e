import { jest } from '@jest/globals';
import { callbackOf, fingerprintOf, subscriptionKey, webhookPath } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup, type ConnectorInstance } from '../../test/reconciler-setup.js';
import { AnnouncedOverlaps, startStandInEvents } from '../../test/stand-in-events.js';
import { publicUrl, webhook } from '../../test/subscription-factory.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';

const [oldSecret, newSecret] = ['the old webhook secret', 'the new webhook secret'];
const callbackFor = (secret: string): string => callbackOf(publicUrl, fingerprintOf(secret));
const plainCallback = publicUrl + webhookPath;
const both = (...streamers: string[]): string[] =>
  streamers.flatMap((id) => [`stream.offline ${id}`, `stream.online ${id}`]).sort();
const limitMs = 240_000;

describe('rotation of the webhook secret', () => {
  let setup: ReconcilerSetup;
  let overlaps: AnnouncedOverlaps;
  let events: { close(): Promise<void> };

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(async () => {
    await setup.reset();
    overlaps = new AnnouncedOverlaps();
    events = await startStandInEvents(setup.nats.urlFor('events'), overlaps);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await events.close();
  });

  afterAll(() => setup.close());

  const start = (...secrets: string[]): Promise<ConnectorInstance> =>
    setup.startInstance({ PLATFORM_WEBHOOK_SECRET: secrets.join(',') });

  /** Makes the next listing due, and advances the times of the overlaps. */
  const passTime = async (): Promise<void> => {
    await setup.dataSource.query('UPDATE reconciliation SET listing_due_at = now() WHERE holder IS NULL');
    await setup.dataSource.query(
      `UPDATE subscription_moves SET enabled_at = enabled_at - interval '10 s', ends_at = ends_at - interval '7 s',
         retry_at = retry_at - interval '10 min'`,
    );
  };

  const untilMovedTo = (secret: string, streamers: string[]): Promise<void> =>
    eventually(
      async () => {
        await passTime();
        expect(setup.platform.names(callbackFor(secret))).toEqual(both(...streamers));
        expect(setup.platform.subscriptions.size).toBe(2 * streamers.length);
        expect(await setup.dataSource.query('SELECT FROM subscription_moves')).toEqual([]);
      },
      { timeoutMs: 60_000 },
    );

  /** Counts gaps, and subscriptions that are created or deleted too early, on the platform. */
  const watchPlatform = (count: number): { gaps: number; early: number } => {
    const faults = { gaps: 0, early: 0 };
    const { platform } = setup;
    const [create, remove] = [
      platform.createSubscription.bind(platform),
      platform.deleteSubscription.bind(platform),
    ];
    platform.createSubscription = (wanted) => {
      const isSecond = [...platform.subscriptions.values()].some(
        (each) => subscriptionKey(each) === subscriptionKey(wanted),
      );
      if (isSecond && !overlaps.isReady(subscriptionKey(wanted))) faults.early += 1;
      return create(wanted);
    };
    platform.deleteSubscription = async (id) => {
      const removed = platform.subscriptions.get(id);
      // The end of the overlap must have been announced. Otherwise, messages would be lost or stored twice.
      if (removed?.status === 'enabled' && !overlaps.ended.has(subscriptionKey(removed))) faults.early += 1;
      await remove(id);
      const enabled = [...platform.subscriptions.values()].filter(({ status }) => status === 'enabled');
      if (new Set(enabled.map(subscriptionKey)).size < count) faults.gaps += 1;
    };
    return faults;
  };

  it(
    'moves all subscriptions without a gap, with two instances, and announces every overlap before and after',
    async () => {
      const streamers = Array.from({ length: 25 }, (_, index) => `${index}`);
      setup.monitored.ids = streamers;
      const before = await start(oldSecret);
      await eventually(() =>
        expect(setup.platform.names(callbackFor(oldSecret))).toEqual(both(...streamers)),
      );
      await before.stop();
      const faults = watchPlatform(50);
      setup.platform.newStatus = 'webhook_callback_verification_pending';

      const instance = await start(newSecret, oldSecret);
      await eventually(async () => {
        const { webhookSecret } = await instance.status.read();
        expect(webhookSecret).toEqual({ moved: 0, total: 50, canRemoveOthers: false, problem: null });
      });
      await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, streamers);

      expect(faults).toEqual({ gaps: 0, early: 0 });
      expect(overlaps.ended.size).toBe(50);
      const { webhookSecret, subscriptions } = await instance.status.read();
      expect(webhookSecret).toEqual({ moved: 50, total: 50, canRemoveOthers: true, problem: null });
      expect(subscriptions).toEqual({ enabled: 50 });
      expect(await instance.metrics.metrics()).toContain(
        'platform_webhook_secret_subscriptions{secret="first"} 50',
      );
    },
    limitMs,
  );

  it(
    'adopts subscriptions with the plain callback, and moves them when the secret changes',
    async () => {
      setup.monitored.ids = ['1', '2'];
      for (const type of ['stream.online', 'stream.offline'])
        for (const streamer of setup.monitored.ids) {
          const condition = { broadcaster_user_id: streamer };
          setup.platform.add({
            type,
            version: '1',
            condition,
            cost: 1,
            status: 'enabled',
            transport: webhook(plainCallback),
          });
        }
      const instance = await start(oldSecret);
      await eventually(async () => {
        const { webhookSecret } = await instance.status.read();
        expect(webhookSecret).toMatchObject({ moved: 4, total: 4, canRemoveOthers: false });
      });
      expect(setup.platform.creations.size).toBe(0);
      await instance.stop();

      const faults = watchPlatform(4);
      await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, ['1', '2']);
      expect(faults).toEqual({ gaps: 0, early: 0 });
    },
    limitMs,
  );

  it(
    'continues after a crash, and keeps the old subscriptions while the gateways do not accept the new secret',
    async () => {
      setup.monitored.ids = ['1', '2'];
      await (await untilSubscribed()).stop();
      const faults = watchPlatform(4);
      setup.platform.newStatus = 'webhook_callback_verification_pending';
      setup.platform.verifiedStatus = 'webhook_callback_verification_failed';

      const instance = await start(newSecret, oldSecret);
      await eventually(
        async () => {
          await passTime();
          const { webhookSecret } = await instance.status.read();
          expect(webhookSecret).toMatchObject({ moved: 0, total: 4 });
          expect(webhookSecret?.problem).toContain('PLATFORM_WEBHOOK_SECRET of all gateways');
        },
        { timeoutMs: 60_000 },
      );
      expect(setup.platform.names(callbackFor(oldSecret))).toEqual(both('1', '2'));
      await instance.cutOff();

      setup.platform.verifiedStatus = 'enabled';
      await setup.dataSource.query('UPDATE subscription_moves SET retry_at = now()');
      await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, ['1', '2']);
      expect(faults).toEqual({ gaps: 0, early: 0 });
    },
    limitMs,
  );

  it(
    'moves group by group when the limit has room for one second subscription only, and says when there is none',
    async () => {
      setup.monitored.ids = ['1', '2'];
      await (await untilSubscribed()).stop();
      setup.platform.maxCost = 4;
      const instance = await start(newSecret, oldSecret);
      await eventually(
        async () => {
          await passTime();
          expect((await instance.status.read()).webhookSecret?.problem).toContain('no room');
        },
        { timeoutMs: 60_000 },
      );

      setup.platform.maxCost = 5;
      await untilMovedTo(newSecret, ['1', '2']);
      expect(setup.platform.highestCost).toBe(5);
    },
    limitMs,
  );

  it(
    'creates no second subscription while the events service does not reply',
    async () => {
      setup.monitored.ids = ['1'];
      await (await untilSubscribed()).stop();
      await events.close();
      await start(newSecret, oldSecret);
      const listings = setup.platform.listings;
      await eventually(
        async () => {
          await passTime();
          expect(setup.platform.listings).toBeGreaterThan(listings + 3);
        },
        { timeoutMs: 60_000 },
      );
      expect(setup.platform.subscriptions.size).toBe(2);

      events = await startStandInEvents(setup.nats.urlFor('events'), overlaps);
      await untilMovedTo(newSecret, ['1']);
    },
    limitMs,
  );

  it(
    'replaces subscriptions of a secret that was removed too early',
    async () => {
      setup.monitored.ids = ['1'];
      await (await untilSubscribed()).stop();
      await start(newSecret);
      await untilMovedTo(newSecret, ['1']);
      expect(overlaps.announced.size).toBe(0);
    },
    limitMs,
  );

  it(
    'is the work of the instances with the newest secrets, also while others run',
    async () => {
      // The old instance leaves a due round to the other instances for 2 s. On a busy machine, the other instances may need longer.
      const { claim } = ReconciliationSchedule.prototype;
      jest.spyOn(ReconciliationSchedule.prototype, 'claim').mockImplementation(function (
        this: ReconciliationSchedule,
        holder,
        waitMs = 0,
      ) {
        return claim.call(this, holder, 15 * waitMs);
      });
      setup.monitored.ids = ['1'];
      const old = await untilSubscribed();
      const actions = () => old.metrics.getSingleMetricAsString('platform_subscription_actions_total');
      const before = await actions();
      await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, ['1']);
      for (const streamer of ['2', '3', '4', '5', '6', '7', '8']) {
        setup.monitored.ids.push(streamer);
        await setup.dataSource.query('UPDATE reconciliation SET due_at = now()');
        await eventually(() =>
          expect(setup.platform.subscriptions.size).toBe(2 * setup.monitored.ids.length),
        );
      }
      expect(setup.platform.names(callbackFor(newSecret))).toEqual(both(...setup.monitored.ids));
      expect(await actions()).toBe(before);
    },
    limitMs,
  );

  it(
    'leaves the subscriptions alone when an instance with older secrets still runs, and lists again soon for the others',
    async () => {
      setup.monitored.ids = ['1'];
      const old = await untilSubscribed();
      const current = await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, ['1']);
      await current.stop();
      const listings = setup.platform.listings;

      await setup.dataSource.query('UPDATE reconciliation SET listing_due_at = now() WHERE holder IS NULL');
      await eventually(() => expect(setup.platform.listings).toBeGreaterThan(listings + 2), {
        timeoutMs: 60_000,
      });
      expect(setup.platform.names(callbackFor(newSecret))).toEqual(both('1'));
      expect(setup.platform.subscriptions.size).toBe(2);
      await old.stop();
    },
    limitMs,
  );

  async function untilSubscribed(): Promise<ConnectorInstance> {
    const instance = await start(oldSecret);
    await eventually(() =>
      expect(setup.platform.names(callbackFor(oldSecret))).toEqual(both(...setup.monitored.ids)),
    );
    await eventually(async () =>
      expect((await instance.status.read()).subscriptions).toEqual({
        enabled: 2 * setup.monitored.ids.length,
      }),
    );
    return instance;
  }
});
