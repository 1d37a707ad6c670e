import { once } from 'node:events';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { SimulatedPlatform, type SimulatedUser } from './simulated-platform.js';
import { application } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';
import { monitorStreamer } from './streamer-records.js';

interface Gap {
  transport: string;
  source: string;
  from: string;
  until: string | null;
  lost: number | null;
  reason: string;
}

const settled = { timeoutMs: 90_000 };
const limitMs = 300_000;

/** The application has no secret. Without one, it gets no app access token and cannot use webhooks or conduits. */
describe('events over plain sockets', () => {
  let stack: Stack;
  let platform: SimulatedPlatform;
  let user: SimulatedUser;
  let lastBits = 0;

  beforeAll(async () => {
    stack = await startStack({
      gateways: 1,
      events: 1,
      simulator: true,
      killable: ['platform-connector'],
      environment: { PLATFORM_CLIENT_SECRET: '', SIMULATOR_GRANTS: 'explicit' },
    });
    const { PLATFORM_CLIENT_ID: client_id } = application;
    await stack.simulate('POST', '/simulator/applications', { client_id });
    platform = new SimulatedPlatform(stack);
    await platform.setLimits({ device_interval_seconds: 1 });
    await stack.startPlatform();
    user = await platform.addUser();
    await connect(user);
    await untilSubscribed();
  }, 2 * startLimitMs);

  afterAll(() => stack.stop());

  const connect = async ({ login }: SimulatedUser): Promise<string> => {
    const { json } = await stack.request<{ id: string; user_code: string }>(
      'POST',
      '/api/v1/platform/connections',
    );
    await platform.decide(json.user_code, { decision: 'allow', login });
    return json.id;
  };

  /** Waits until all of the user's subscriptions exist and no delivery gap is open. */
  const untilSubscribed = (): Promise<void> =>
    eventually(async () => {
      const { json } = await stack.request<{
        subscriptions: Record<string, number>;
        transport: { method: string };
        delivery_gaps: Gap[];
      }>('GET', '/api/v1/platform/status');
      expect(json.transport.method).toBe('websocket');
      expect(json.subscriptions).toEqual({ enabled: expect.any(Number) });
      expect(json.delivery_gaps.filter(({ until }) => until === null)).toEqual([]);
    }, settled);

  const gaps = async (): Promise<Gap[]> =>
    (await stack.request<{ delivery_gaps: Gap[] }>('GET', '/api/v1/platform/status')).json.delivery_gaps;

  /** Simulates cheers. Returns their bits, which are unique. */
  const cheer = async (times: number): Promise<number[]> => {
    const all = Array.from({ length: times }, () => (lastBits += 1));
    for (const bits of all) {
      const event = { broadcaster_user_id: user.id, user_id: '1', bits };
      await stack.simulate('POST', '/simulator/occurrences', { type: 'channel.cheer', event });
    }
    return all;
  };

  /** Returns the bits of the stored cheers, in order of arrival. */
  const stored = async (): Promise<number[]> => {
    const rows = await stack.query<{ bits: number }>(
      `SELECT (event_data->>'bits')::int AS bits FROM events.events WHERE event_type = 'channel-cheer' ORDER BY id`,
    );
    return rows.map(({ bits }) => bits);
  };

  const untilStored = (bits: readonly number[]): Promise<void> =>
    eventually(async () => {
      expect((await stored()).filter((each) => bits.includes(each)).sort((a, b) => a - b)).toEqual(bits);
    }, settled);

  const disturb = (body: object): Promise<unknown> => stack.simulate('POST', '/simulator/sockets', body);

  it(
    'arrive after the user has connected, through one socket of one connector',
    async () => {
      await untilStored(await cheer(5));

      const { json } = await stack.simulate<{ sockets: object[] }>('GET', '/simulator/sockets');
      expect(json.sockets).toHaveLength(1);
      expect(await stack.metric('connectors', 'platform_connector_user_sockets', { connected: 'true' })).toBe(
        1,
      );
      expect((await platform.requests()).token).toBeUndefined();
    },
    limitMs,
  );

  it('come with calls to the platform’s API that use the token of the connected user', async () => {
    const path = `/api/v1/platform/call/users?id=${user.id}`;
    const { status, json } = await stack.request<{ data: { login: string }[] }>('GET', path);
    expect([status, json.data.map(({ login }) => login)]).toEqual([200, [user.login]]);
  });

  it(
    'arrive once each while the platform asks for reconnects',
    async () => {
      const before = await gaps();
      const sent: number[] = [];
      for (let round = 0; round < 5; round += 1) {
        await disturb({ action: 'reconnect' });
        sent.push(...(await cheer(10)));
      }
      await untilStored(sent);

      expect(await gaps()).toEqual(before);
    },
    limitMs,
  );

  it(
    'arrive once each when NATS is away for seconds',
    async () => {
      const before = await gaps();
      await stack.nats.kill();
      const sent = await cheer(30);
      await eventually(async () => {
        const waiting = await stack.metric('connectors', 'platform_connector_socket_messages_waiting');
        expect(waiting).toBeGreaterThanOrEqual(30);
      }, settled);
      await stack.nats.restart();
      await untilStored([...sent, ...(await cheer(5))]);

      await eventually(async () => expect(await gaps()).toEqual(before), settled);
    },
    limitMs,
  );

  it(
    'arrive again after the socket was lost, and the status shows since when they were missing',
    async () => {
      const before = await gaps();
      await disturb({ action: 'close', code: 4006 });
      await eventually(async () => expect(await gaps()).toHaveLength(before.length + 1), settled);
      await untilSubscribed();
      await untilStored(await cheer(5));

      const [gap] = await gaps();
      expect(gap).toEqual({
        transport: 'websocket',
        source: `user ${user.id}`,
        from: expect.any(String),
        until: expect.any(String),
        lost: null,
        reason: 'network error',
      });
      expect(Date.parse(gap!.until!)).toBeGreaterThanOrEqual(Date.parse(gap!.from));
    },
    limitMs,
  );

  it(
    'arrive again after the connector that held the socket was killed',
    async () => {
      const before = await gaps();
      const holder = await eventually(async () => {
        const connected = await Promise.all(
          stack.connectors.map((connector) =>
            connector.metric('platform_connector_user_sockets', { connected: 'true' }),
          ),
        );
        expect(connected).toContain(1);
        return stack.connectors[connected.indexOf(1)]!;
      }, settled);
      await holder.kill('SIGKILL');
      // Send all cheers at once, before the other connector takes over (within 10 s).
      const missed = (await Promise.all([cheer(1), cheer(1), cheer(1)])).flat();

      await eventually(async () => expect(await gaps()).toHaveLength(before.length + 1), settled);
      await untilSubscribed();
      const sent = await cheer(5);
      await untilStored(sent);

      expect(await gaps()).toContainEqual(
        expect.objectContaining({ reason: expect.stringContaining('has stopped'), lost: null }),
      );
      expect((await stored()).filter((bits) => missed.includes(bits))).toEqual([]);
      expect(new Set(await stored()).size).toBe((await stored()).length);
    },
    limitMs,
  );

  it(
    'also come from channels that are not connected, up to the cost of 10 that a user has',
    async () => {
      const streamers = [await platform.addUser(), await platform.addUser(), await platform.addUser()];
      for (const { login } of streamers) await monitorStreamer(stack, login);

      await eventually(async () => {
        const { json } = await stack.request<{ cost: object; subscriptions: Record<string, number> }>(
          'GET',
          '/api/v1/platform/status',
        );
        expect(json.cost).toEqual({ total: 10, max: 10 });
        // Three streamers with five costly subscriptions each need 15; the limit is 10.
        expect(json.subscriptions).toMatchObject({ limit_reached: 5 });
      }, settled);
      const refused = { action: 'create', result: 'limit_reached' };
      expect(await stack.metric('connectors', 'platform_subscription_actions_total', refused)).toBe(0);
    },
    limitMs,
  );

  /** Opens a socket with a user's token and creates a subscription, like another program would. */
  const occupySocket = async (authorization: string, channel: string): Promise<WebSocket> => {
    const { url } = stack.simulator!;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`);
    const [frame] = (await once(socket, 'message')) as [Buffer]; // Safe cast: ws delivers Buffers by default.
    const { payload } = JSON.parse(frame.toString()) as { payload: { session: { id: string } } };
    const { status } = await fetch(`${url}/helix/eventsub/subscriptions`, {
      method: 'POST',
      headers: {
        authorization,
        'client-id': application.PLATFORM_CLIENT_ID,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: channel },
        transport: { method: 'websocket', session_id: payload.session.id },
      }),
    });
    expect(status).toBe(202);
    return socket;
  };

  const logIn = async ({ login }: SimulatedUser): Promise<string> => {
    const client_id = application.PLATFORM_CLIENT_ID;
    const post = async (path: string, form: Record<string, string>): Promise<Record<string, string>> => {
      const body = new URLSearchParams({ client_id, scopes: '', ...form });
      const response = await fetch(`${stack.simulator!.url}/oauth2/${path}`, { method: 'POST', body });
      return (await response.json()) as Record<string, string>; // Safe cast: the simulator replies like the platform.
    };
    const { device_code = '', user_code = '' } = await post('device', {});
    await platform.decide(user_code, { decision: 'allow', login });
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    return `Bearer ${(await post('token', { device_code, grant_type })).access_token}`;
  };

  it(
    'arrive as soon as other programs of the user do not hold all three sockets any more',
    async () => {
      const other = await platform.addUser();
      const token = await logIn(other);
      const occupied: WebSocket[] = [];
      for (const channel of ['1', '2', '3']) occupied.push(await occupySocket(token, channel));
      // The platform closes a session without subscriptions after 10 s. A shorter simulated second makes the connector try the next session
      // sooner.
      await stack.simulate('POST', '/simulator/limits', { socket_second_ms: 300 });
      const statuses = (): Promise<{ status: string; reason: string | null }[]> =>
        stack.query(
          `SELECT DISTINCT status, reason FROM platform_connector.subscriptions WHERE condition ->> 'broadcaster_user_id' = $1`,
          [other.id],
        );
      try {
        await connect(other);
        await eventually(
          async () =>
            expect(await statuses()).toContainEqual({
              status: 'limit_reached',
              reason: expect.stringContaining('number of websocket transports limit exceeded'),
            }),
          settled,
        );
      } finally {
        // The connector again has 10 s to create a new session's subscriptions.
        await stack.simulate('POST', '/simulator/limits', { socket_second_ms: 1_000 });
      }

      for (const socket of occupied) socket.close();
      await eventually(
        async () => {
          // Retries slow down to one per hour. Make the retry due now.
          await stack.query(
            `UPDATE platform_connector.subscriptions SET retry_at = now() WHERE status = 'limit_reached'`,
          );
          await stack.query('UPDATE platform_connector.reconciliation SET due_at = now()');
          expect(await statuses()).toEqual([{ status: 'enabled', reason: null }]);
        },
        { ...settled, intervalMs: 500 },
      );
    },
    limitMs,
  );

  it(
    'end when the user is disconnected',
    async () => {
      const { json } = await stack.request<{ id: string }[]>('GET', '/api/v1/platform/connections');
      for (const { id } of json) await stack.request('DELETE', `/api/v1/platform/connections/${id}`);

      await eventually(async () => {
        const { json } = await stack.simulate<{ sockets: object[] }>('GET', '/simulator/sockets');
        expect(json.sockets).toEqual([]);
      }, settled);
    },
    limitMs,
  );
});
