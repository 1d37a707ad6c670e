import { callbackOf, fingerprintOf, webhookPath } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { CheerLoad } from './cheer-load.js';
import { LoadBalancer } from './load-balancer.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { type Stack, startLimitMs, startStack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

const [oldSecret, newSecret] = ['the old webhook secret', 'the new webhook secret'];
const both = `${newSecret},${oldSecret}`;
// Limit for a rotation. It takes some seconds on an idle machine, and many times as long on a busy one.
const rotationLimitMs = 300_000;
const testLimitMs = 1_200_000;

interface Listed {
  data: { id: string; type: string; status: string; transport: { callback: string } }[];
}

interface Status {
  subscriptions: Record<string, number>;
  streamers: { monitored: number };
  webhook_secret: Record<string, unknown>;
}

describe('rotation of the webhook secret', () => {
  let balancer: LoadBalancer;
  let stack: Stack;
  let platform: SimulatedPlatform;
  let load: CheerLoad | undefined;

  beforeAll(async () => {
    balancer = await LoadBalancer.start();
    const secret = { PLATFORM_WEBHOOK_SECRET: oldSecret };
    stack = await startStack({
      gateways: 0,
      killable: ['gateway'],
      publicUrl: balancer.url,
    });
    await Promise.all([stack.startGateway(secret), stack.startGateway(secret)]);
    balancer.use(stack.urls);
    stack.balanceRequests();
    stack.ownerToken = await stack.logIn('owner', 'the password of the owner');
    await stack.startSimulator();
    platform = new SimulatedPlatform(stack);
    // Keep retrying for longer than a killed gateway needs to restart: up to half a minute on a busy machine.
    await stack.simulate('POST', '/simulator/limits', {
      retry_delays_ms: [500, 1_000, 2_000, 5_000, 10_000, 20_000, 20_000],
      max_failed_notifications: 1_000,
    });
    await Promise.all([
      stack.startConnector(secret),
      stack.startConnector(secret),
      stack.startMonitor(),
      stack.startMonitor(),
    ]);
  }, 2 * startLimitMs);

  afterAll(async () => {
    load?.end();
    await stack.stop();
    await balancer.stop();
  });

  const listed = async (): Promise<Listed['data']> =>
    (await stack.simulate<Listed>('GET', '/helix/eventsub/subscriptions')).json.data;

  const status = async (): Promise<Status> =>
    (await stack.request<Status>('GET', '/api/v1/platform/status')).json;

  /** Replaces the running gateways with new ones that use these secrets. */
  const replaceGateways = async (secrets: string): Promise<void> => {
    const before = stack.gateways.filter(({ isRunning }) => isRunning);
    const environment = { PLATFORM_WEBHOOK_SECRET: secrets };
    const after = await Promise.all([stack.startGateway(environment), stack.startGateway(environment)]);
    balancer.use(after.map(({ url }) => url));
    await Promise.all(before.map((gateway) => gateway.stop()));
    stack.balanceRequests();
  };

  const replaceConnectors = async (secrets: string): Promise<void> => {
    const before = stack.connectors.filter(({ isRunning }) => isRunning);
    const environment = { PLATFORM_WEBHOOK_SECRET: secrets };
    await Promise.all([stack.startConnector(environment), stack.startConnector(environment)]);
    await Promise.all(before.map((connector) => connector.stop()));
  };

  it(
    'loses no event, leaves no subscription behind, and ends with the new secret alone',
    async () => {
      await stack.request('PUT', '/api/v1/platform/event-types/channel.cheer', { body: { active: true } });
      const streamers: SimulatedUser[] = [];
      for (let count = 0; count < 3; count += 1) {
        const user = await platform.addUser();
        streamers.push(user);
        await eventually(() => monitorStreamer(stack, user.login), { timeoutMs: 60_000 });
      }
      const count = await eventually(
        async () => {
          const subscriptions = await listed();
          expect(subscriptions.filter(({ type }) => type === 'channel.cheer')).toHaveLength(3);
          // All subscriptions are enabled, and none is pending.
          expect(await status()).toMatchObject({
            subscriptions: { enabled: subscriptions.length },
            streamers: { monitored: 3 },
          });
          expect(Object.keys((await status()).subscriptions)).toEqual(['enabled']);
          return subscriptions.length;
        },
        { timeoutMs: 120_000 },
      );

      load = new CheerLoad(stack, streamers);
      await replaceGateways(both);
      await replaceConnectors(both);
      await eventually(async () => expect((await listed()).length).toBeGreaterThan(count), {
        timeoutMs: rotationLimitMs,
      });
      // Kill a gateway while both subscriptions of a pair deliver.
      const victim = stack.gateways.find(({ isRunning }) => isRunning)!;
      await victim.kill('SIGKILL');
      await victim.start();
      await eventually(
        async () =>
          expect((await status()).webhook_secret).toEqual({
            moved: count,
            total: count,
            can_remove_others: true,
            problem: null,
          }),
        { timeoutMs: rotationLimitMs, intervalMs: 1_000 },
      );

      const ended = load;
      const afterMoves = await ended.untilMore(100);
      await replaceGateways(newSecret);
      await replaceConnectors(newSecret);
      await ended.stop();
      await eventually(async () => expect(await ended.countUnfinished()).toBe(0), { timeoutMs: 150_000 });
      // The INGEST stream can still hold messages that the store could not take in time.
      await eventually(() => ended.expectStored(afterMoves), { timeoutMs: 120_000 });

      const subscriptions = await listed();
      expect(subscriptions).toHaveLength(count);
      expect(new Set(subscriptions.map(({ transport }) => transport.callback))).toEqual(
        new Set([callbackOf(balancer.url, fingerprintOf(newSecret))]),
      );
      for (const [secret, path, expected] of [
        [oldSecret, webhookPath, 403],
        [oldSecret, `${webhookPath}/keys/${fingerprintOf(oldSecret)}`, 403],
        [oldSecret, `${webhookPath}/keys/${fingerprintOf(newSecret)}`, 403],
        [newSecret, `${webhookPath}/keys/${fingerprintOf(oldSecret)}`, 403],
        [newSecret, `${webhookPath}/keys/${fingerprintOf(newSecret)}`, 204],
        [newSecret, webhookPath, 204],
      ] as const) {
        const sent = await stack.simulate<{ responses: { status: number }[] }>(
          'POST',
          '/simulator/notifications',
          { type: 'stream.offline', callback: balancer.url + path, secret },
        );
        expect([path, sent.json.responses]).toEqual([path, [{ status: expected }]]);
      }
    },
    testLimitMs,
  );
});
