import { eventually } from '@stream-events/testing';
import { CheerLoad } from './cheer-load.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { type Stack, startLimitMs, startStack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

// An announcement, an overlap of 10 s, and the end take about 40 s on an idle machine.
const moveLimitMs = 180_000;
const testLimitMs = 480_000;

interface Listed {
  data: { transport: { method: string } }[];
}

interface Status {
  transport: { method: string; moved: number; total: number; problem: string | null };
}

describe('change of the transport', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let load: CheerLoad | undefined;

  beforeAll(async () => {
    stack = await startStack({ gateways: 1, events: 1, simulator: true });
    platform = new SimulatedPlatform(stack);
    await Promise.all([stack.startConnector(), stack.startMonitor()]);
  }, startLimitMs);

  afterAll(async () => {
    load?.end();
    await stack.stop();
  });

  const methods = async (): Promise<string[]> => {
    const { json } = await stack.simulate<Listed>('GET', '/helix/eventsub/subscriptions');
    return json.data.map(({ transport }) => transport.method);
  };

  const untilMovedTo = (method: string): Promise<void> =>
    eventually(
      async () => {
        const { transport } = (await stack.request<Status>('GET', '/api/v1/platform/status')).json;
        expect(transport).toMatchObject({ method, moved: transport.total, problem: null });
        expect(new Set(await methods())).toEqual(new Set([method]));
        expect(await stack.count('platform_connector.subscription_moves')).toBe(0);
      },
      { timeoutMs: moveLimitMs, intervalMs: 500 },
    );

  const changeTo = async (transport: string): Promise<void> => {
    const before = stack.connectors.filter(({ isRunning }) => isRunning);
    await stack.startConnector({ PLATFORM_TRANSPORT: transport });
    await Promise.all(before.map((connector) => connector.stop()));
    await untilMovedTo(transport);
  };

  it(
    'from webhooks to a conduit and back stores every occurrence once, and leaves no subscription or conduit behind',
    async () => {
      await stack.request('PUT', '/api/v1/platform/event-types/channel.cheer', { body: { active: true } });
      const streamers: SimulatedUser[] = [];
      for (let count = 0; count < 3; count += 1) {
        const user = await platform.addUser();
        streamers.push(user);
        await eventually(() => monitorStreamer(stack, user.login), { timeoutMs: 30_000 });
      }
      await eventually(
        async () => expect(await stack.count(`platform_connector.subscriptions WHERE type = 'channel.cheer' AND status = 'enabled'`)).toBe(3), // prettier-ignore
        { timeoutMs: 60_000 },
      );
      await untilMovedTo('webhook');
      const before = (await methods()).length;

      load = new CheerLoad(stack, streamers);
      await changeTo('conduit');
      await changeTo('webhook');
      const ended = load;
      const happened = await ended.stop();
      await eventually(async () => expect(await ended.countStored()).toEqual(happened), {
        timeoutMs: 60_000,
      });

      expect(await methods()).toHaveLength(before);
      await eventually(
        async () => {
          const { json } = await stack.simulate<{ data: object[] }>('GET', '/helix/eventsub/conduits');
          expect(json.data).toEqual([]);
        },
        { timeoutMs: 30_000 },
      );
    },
    testLimitMs,
  );
});
