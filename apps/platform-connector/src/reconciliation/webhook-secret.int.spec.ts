import { jest } from '@jest/globals';
import { callbackOf, fingerprintOf, subscriptionKey } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { ReconcilerSetup, type ConnectorInstance } from '../../test/reconciler-setup.js';
import { publicUrl } from '../../test/subscription-factory.js';
import { ReconciliationSchedule } from '../subscriptions/reconciliation-schedule.repository.js';

const [oldSecret, newSecret] = ['the old webhook secret', 'the new webhook secret'];
const callbackFor = (secret: string): string => callbackOf(publicUrl, fingerprintOf(secret));
const both = (...streamers: string[]): string[] =>
  streamers.flatMap((id) => [`stream.offline ${id}`, `stream.online ${id}`]).sort();
const limitMs = 240_000;

describe('rotation of the webhook secret', () => {
  let setup: ReconcilerSetup;

  beforeAll(async () => {
    setup = await ReconcilerSetup.start();
  });

  beforeEach(() => setup.reset());

  afterEach(() => jest.restoreAllMocks());

  afterAll(() => setup.close());

  const start = (...secrets: string[]): Promise<ConnectorInstance> =>
    setup.startInstance({ PLATFORM_WEBHOOK_SECRET: secrets.join(',') });

  /** Makes the next listing due. */
  const passTime = async (): Promise<void> => {
    await setup.dataSource.query('UPDATE reconciliation SET listing_due_at = now() WHERE holder IS NULL');
  };

  const untilMovedTo = (secret: string, streamers: string[]): Promise<void> =>
    eventually(
      async () => {
        await passTime();
        expect(setup.platform.names(callbackFor(secret))).toEqual(both(...streamers));
        expect(setup.platform.subscriptions.size).toBe(2 * streamers.length);
      },
      { timeoutMs: 60_000 },
    );

  /** Counts the deletions that leave fewer than `count` working subscriptions with different keys. */
  const watchPlatform = (count: number): { gaps: number } => {
    const faults = { gaps: 0 };
    const { platform } = setup;
    const remove = platform.deleteSubscription.bind(platform);
    platform.deleteSubscription = async (id) => {
      await remove(id);
      const enabled = [...platform.subscriptions.values()].filter(({ status }) => status === 'enabled');
      if (new Set(enabled.map(subscriptionKey)).size < count) faults.gaps += 1;
    };
    return faults;
  };

  it(
    'moves all subscriptions without a gap, with two instances',
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

      expect(faults.gaps).toBe(0);
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
      await start(newSecret, oldSecret);
      await untilMovedTo(newSecret, ['1', '2']);
      expect(faults.gaps).toBe(0);
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
    'replaces subscriptions of a secret that was removed too early',
    async () => {
      setup.monitored.ids = ['1'];
      await (await untilSubscribed()).stop();
      setup.platform.maxCost = 2;
      await start(newSecret);
      await untilMovedTo(newSecret, ['1']);
      // No second subscription has ever existed.
      expect(setup.platform.highestCost).toBe(2);
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
