import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath } from './api.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer, subscriptionsOf } from './streamer-records.js';

const testLimitMs = 400_000;
const patiently = { timeoutMs: 90_000 };
const shardsPath = '/helix/eventsub/conduits/shards';

interface Status {
  subscriptions: Record<string, number>;
  transport: {
    method: string;
    moved: number;
    total: number;
    problem: string | null;
    conduit: { id: string; shards: { id: number; state: string; holder: string | null }[] } | null;
  };
  delivery_gaps: { transport: string; source: string; from: string; until: string | null }[];
}

interface Listed {
  id: string;
  type: string;
  status: string;
  transport: { method: string; conduit_id?: string };
}

describe('events over a conduit', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let streamer: SimulatedUser;

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      simulator: true,
      killable: ['platform-connector'],
      environment: { PUBLIC_URL: '' },
    });
    platform = new SimulatedPlatform(stack);
    await Promise.all([stack.startConnector(), stack.startMonitor()]);
    streamer = await platform.addUser();
    await eventually(() => monitorStreamer(stack, streamer.login), patiently);
    await eventually(
      async () => expect(await subscriptionsOf(stack, streamer.id)).not.toEqual([]),
      patiently,
    );
  }, startLimitMs);

  afterAll(() => stack.stop());

  const status = async (): Promise<Status> =>
    (await stack.request<Status>('GET', '/api/v1/platform/status')).json;
  const states = async (): Promise<string[]> =>
    (await status()).transport.conduit?.shards.map(({ state }) => state) ?? [];
  const listed = async (): Promise<Listed[]> =>
    (await stack.simulate<{ data: Listed[] }>('GET', '/helix/eventsub/subscriptions')).json.data;

  const untilSubscribed = (): Promise<void> =>
    eventually(async () => {
      const { subscriptions, transport } = await status();
      expect(Object.keys(subscriptions)).toEqual(['enabled']);
      expect(transport).toMatchObject({ method: 'conduit', moved: subscriptions.enabled, problem: null });
      expect(await states()).not.toHaveLength(0);
      expect(new Set(await states())).toEqual(new Set(['enabled']));
    }, patiently);

  let follows = 0;
  /** Simulates a follow and waits until the event is stored. Returns the duration in milliseconds. */
  const follow = async (): Promise<number> => {
    follows += 1;
    const user_id = `follower-${follows}`;
    const happenedAt = performance.now();
    await stack.simulate('POST', '/simulator/occurrences', {
      type: 'channel.follow',
      event: { user_id, user_login: user_id, broadcaster_user_id: streamer.id },
    });
    await eventually(
      async () => {
        const { json } = await stack.request<{ results: object[] }>(
          'GET',
          `/api/v1/platform-events?event_type=channel-follow&user_id=${user_id}`,
        );
        expect(json.results).toHaveLength(1);
      },
      { ...patiently, intervalMs: 20 },
    );
    return performance.now() - happenedAt;
  };

  /** Stores and reads an event without the platform. The duration (milliseconds) shows how busy the machine is. */
  const storeByHand = async (): Promise<number> => {
    const startedAt = performance.now();
    const created = await stack.request<{ id: string }>('POST', eventsPath, { body: eventBody() });
    await stack.request('GET', `${eventsPath}/${created.json.id}`);
    return performance.now() - startedAt;
  };

  it(
    'stores a follow without a public address, and keeps the subscriptions when the connector is killed',
    async () => {
      await untilSubscribed();
      const before = await listed();
      expect(new Set(before.map(({ transport }) => transport.method))).toEqual(new Set(['conduit']));
      // Other tests on the same machine can delay a single follow. Take the fastest of three follows, and allow for the machine's load. An
      // idle machine stores an event in a few milliseconds.
      const fastest = Math.min(await follow(), await follow(), await follow());
      const busyMs = Math.max(await storeByHand(), await storeByHand(), await storeByHand());
      expect(fastest).toBeLessThan(2_000 + 5 * busyMs);

      const [connector] = stack.connectors;
      await connector!.kill('SIGKILL');
      await connector!.start();
      // The status can show the shards as enabled until the gaps are recorded. If a busy machine loses another socket, the shard of
      // that socket has a second gap.
      await eventually(async () => {
        const { delivery_gaps } = await status();
        expect(new Set(delivery_gaps.map(({ source }) => source))).toEqual(new Set(['shard 0', 'shard 1']));
        for (const gap of delivery_gaps)
          expect(gap).toMatchObject({ transport: 'conduit', until: expect.any(String) });
      }, patiently);
      await untilSubscribed();
      await follow();

      expect((await listed()).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    },
    testLimitMs,
  );

  it(
    'shares eight shards between two connectors, and connects them again when one is killed',
    async () => {
      const shards = { PLATFORM_CONDUIT_SHARDS: '8' };
      const ids = (await listed()).map(({ id }) => id);
      const old = stack.connectors[0]!;
      const [victim] = await Promise.all([stack.startConnector(shards), stack.startConnector(shards)]);
      await old.stop();
      const holders = async (): Promise<number[]> => {
        const held = new Map<string | null, number>();
        for (const { holder } of (await status()).transport.conduit?.shards ?? [])
          held.set(holder, (held.get(holder) ?? 0) + 1);
        return [...held.values()];
      };
      await eventually(async () => expect(await holders()).toEqual([4, 4]), patiently);
      await untilSubscribed();

      const enabledShards = async (): Promise<object[]> => {
        const id = (await status()).transport.conduit?.id;
        const path = `${shardsPath}?conduit_id=${id}&status=enabled`;
        return (await stack.simulate<{ data: object[] }>('GET', path)).json.data;
      };
      await victim.kill('SIGKILL');
      // The platform may not have noticed yet that the sockets are closed. Wait for the new holder first.
      await eventually(async () => expect(await holders()).toEqual([8]), patiently);
      await eventually(async () => expect(await enabledShards()).toHaveLength(8), patiently);
      await untilSubscribed();
      await follow();
      expect((await listed()).map(({ id }) => id)).toEqual(ids);
    },
    testLimitMs,
  );

  it(
    'creates another conduit when the platform has deleted it, and subscribes again',
    async () => {
      const id = (await status()).transport.conduit?.id;
      await stack.simulate('DELETE', `/helix/eventsub/conduits?id=${id}`);
      await eventually(async () => {
        const { conduit } = (await status()).transport;
        expect(conduit?.id).toEqual(expect.any(String));
        expect(conduit?.id).not.toBe(id);
        expect(new Set((await listed()).map(({ transport }) => transport.conduit_id))).toEqual(
          new Set([conduit?.id]),
        );
      }, patiently);
      await untilSubscribed();
      await follow();
    },
    testLimitMs,
  );
});
