import { eventually } from '@stream-events/testing';
import { CheerLoad } from './cheer-load.js';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { type Stack, startLimitMs, startStack } from './stack.js';

// Limit for moving to another transport. A move takes some seconds on an idle machine, and many times as long on a busy one.
const moveLimitMs = 300_000;
const patiently = { timeoutMs: 120_000 };
const testLimitMs = 3 * moveLimitMs + 120_000;

interface Listed {
  data: { transport: { method: string } }[];
}

interface Status {
  transport: { method: string; moved: number; total: number; problem: string | null };
  delivery_gaps: { transport: string }[];
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

  /** Connects a new channel. Over plain sockets, subscriptions to a channel's events need the token of the channel's user. */
  const connect = async (): Promise<SimulatedUser> => {
    const user = await platform.addUser();
    const { json } = await eventually(async () => {
      const reply = await stack.request<{ user_code: string }>('POST', '/api/v1/platform/connections');
      expect(reply.status).toBe(201);
      return reply;
    }, patiently);
    await platform.decide(json.user_code, { decision: 'allow', login: user.login });
    return user;
  };

  /** Returns the transport of each listed subscription. The list omits subscriptions over plain sockets, which belong to users. */
  const methods = async (): Promise<string[]> => {
    const { json } = await stack.simulate<Listed>('GET', '/helix/eventsub/subscriptions');
    return json.data.map(({ transport }) => transport.method);
  };

  const untilMovedTo = (method: string): Promise<void> =>
    eventually(
      async () => {
        const { transport } = (await stack.request<Status>('GET', '/api/v1/platform/status')).json;
        expect(transport).toMatchObject({ method, moved: transport.total, problem: null });
        expect(new Set(await methods())).toEqual(new Set(method === 'websocket' ? [] : [method]));
      },
      { timeoutMs: moveLimitMs, intervalMs: 500 },
    );

  /**
   * Changes the transport in a rolling restart. Old connectors run until all subscriptions have moved, because a plain socket closes with
   * its connector.
   */
  const changeTo = async (transport: string): Promise<void> => {
    const before = stack.connectors.filter(({ isRunning }) => isRunning);
    await stack.startConnector({ PLATFORM_TRANSPORT: transport });
    await untilMovedTo(transport);
    await Promise.all(before.map((connector) => connector.stop()));
  };

  it(
    'from webhooks over a conduit and plain sockets back to webhooks loses no event, and leaves nothing behind',
    async () => {
      await stack.request('PUT', '/api/v1/platform/event-types/channel.cheer', { body: { active: true } });
      await platform.setLimits({ device_interval_seconds: 1 });
      const streamers = [await connect(), await connect()];
      await eventually(
        async () => expect(await stack.count(`platform_connector.subscriptions WHERE type = 'channel.cheer' AND status = 'enabled'`)).toBe(2), // prettier-ignore
        patiently,
      );
      await untilMovedTo('webhook');
      const before = (await methods()).length;

      load = new CheerLoad(stack, streamers);
      await changeTo('conduit');
      await changeTo('websocket');
      await eventually(async () => {
        const labels = { connected: 'true' };
        const sockets = await stack.metric('connectors', 'platform_connector_user_sockets', labels);
        expect(sockets).toBe(streamers.length);
      }, patiently);
      await changeTo('webhook');
      const ended = load;
      const afterMoves = await ended.untilMore(100);
      await ended.stop();

      const { json: status } = await stack.request<Status>('GET', '/api/v1/platform/status');
      // On a busy machine, the last connector with a shard can stop before another one has taken it. This counts as a gap of the conduit,
      // although no subscription uses the conduit any more.
      expect(status.delivery_gaps.filter(({ transport }) => transport !== 'conduit')).toEqual([]);
      await eventually(() => ended.expectStored(afterMoves), patiently);

      expect(await methods()).toHaveLength(before);
      await eventually(async () => {
        const conduits = await stack.simulate<{ data: object[] }>('GET', '/helix/eventsub/conduits');
        const { json } = await stack.simulate<{ sockets: object[] }>('GET', '/simulator/sockets');
        expect([...conduits.json.data, ...json.sockets]).toEqual([]);
      }, patiently);
    },
    testLimitMs,
  );
});
