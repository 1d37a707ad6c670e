import { eventually } from '@stream-events/testing';
import { DeviceLogin, SimulatorSetup, type Reply, type UserLogin } from '../../test/simulator-setup.js';
import { SocketClient } from '../../test/socket-client.js';

const path = '/helix/eventsub/subscriptions';

describe('sockets of the simulated platform', () => {
  let setup: SimulatorSetup;
  let mira: UserLogin;
  const clients: SocketClient[] = [];

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
    await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
    mira = await new DeviceLogin(setup).logIn('mira', 'bits:read');
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await setup.close();
  });

  /**
   * Makes a server second last 100 ms on new sockets, so that time limits pass quickly. A client then has 1 s to subscribe instead of 10 s.
   */
  const shortenSeconds = () => setup.call('POST', '/simulator/limits', { socket_second_ms: 100 });

  const connect = async (query = ''): Promise<SocketClient> => {
    const client = await SocketClient.connect(setup.simulator.url, query);
    clients.push(client);
    return client;
  };

  const subscribe = (session_id: string, change: object = {}, { headers } = mira): Promise<Reply> => {
    const condition = { broadcaster_user_id: '77' };
    const transport = { method: 'websocket', session_id };
    const body = { type: 'channel.cheer', version: '1', condition, transport, ...change };
    return setup.call('POST', path, body, headers);
  };

  /** Connects and subscribes: the server closes sockets without a subscription. */
  const connectInUse = async (query?: string): Promise<SocketClient> => {
    const client = await connect(query);
    expect((await subscribe(client.sessionId)).status).toBe(202);
    return client;
  };

  const list = async (): Promise<Reply['json']['data']> =>
    (await setup.call('GET', path, undefined, mira.headers)).json.data;
  const statuses = async (): Promise<unknown[]> => (await list()).map(({ status }) => status);
  const disturb = (body: object) => setup.call('POST', '/simulator/sockets', body);

  describe('the server', () => {
    it('welcomes a client without any token', async () => {
      const { frames } = await connect();
      expect(frames).toEqual([
        {
          metadata: {
            message_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
            message_type: 'session_welcome',
            message_timestamp: expect.stringMatching(/\.\d{9}Z$/),
          },
          payload: {
            session: {
              id: expect.stringMatching(/^AgoQ/),
              status: 'connected',
              keepalive_timeout_seconds: 10,
              reconnect_url: null,
              connected_at: expect.stringMatching(/\.\d{9}Z$/),
            },
          },
        },
      ]);
    });

    it.each([
      ['?keepalive_timeout_seconds=30', 30],
      ['?keepalive_timeout_seconds=1', 10],
      ['?keepalive_timeout_seconds=601', 600],
      ['?keepalive_timeout_seconds=soon', 10],
    ])('reads the keep-alive time from %s', async (query, expected) => {
      const { frames } = await connect(query);
      expect(frames[0]?.payload.session?.keepalive_timeout_seconds).toBe(expected);
    });

    it('sends keep-alive messages while there is nothing else, and pings', async () => {
      await shortenSeconds();
      const client = await connectInUse();
      const pings: unknown[] = [];
      client.socket.on('ping', () => pings.push(1));
      expect((await client.waitFor('session_keepalive', 2)).payload).toEqual({});
      expect(pings.length).toBeGreaterThan(1);
    });

    it('closes a connection without a subscription with 4003', async () => {
      await shortenSeconds();
      expect(await (await connect()).closed).toEqual([4003, 'connection unused']);
    });

    it('closes the connection of a client that sends anything with 4001', async () => {
      const client = await connectInUse();
      client.socket.send('hello');
      expect(await client.closed).toEqual([4001, 'sent inbound traffic']);
      expect(await statuses()).toEqual(['websocket_received_inbound_traffic']);
    });

    it('closes the connection of a client that does not answer pings with 4002', async () => {
      await shortenSeconds();
      const client = await SocketClient.open(`${setup.simulator.url}/ws`, { autoPong: false });
      clients.push(client);
      await client.waitFor('session_welcome');
      await subscribe(client.sessionId);
      expect(await client.closed).toEqual([4002, 'failed ping pong']);
      expect(await statuses()).toEqual(['websocket_failed_ping_pong']);
    });

    it('rejects pages of other sites, other paths, and everything while the API is down', async () => {
      const url = `${setup.simulator.url}/ws`;
      await expect(SocketClient.open(url, { origin: 'https://evil.example' })).rejects.toThrow('403');
      await expect(SocketClient.open(`${url}/other`)).rejects.toThrow('404');
      await setup.call('PATCH', '/simulator', { faults: { api: { mode: 'down' } } });
      await expect(SocketClient.open(url)).rejects.toThrow();
    });
  });

  describe('a subscription', () => {
    it('gets notifications on its socket', async () => {
      const client = await connect();
      const { json } = await subscribe(client.sessionId);
      expect(json).toMatchObject({
        data: [
          {
            status: 'enabled',
            cost: 0,
            transport: {
              method: 'websocket',
              session_id: client.sessionId,
              connected_at: expect.any(String) as unknown,
            },
          },
        ],
        ...{ total: 1, total_cost: 0, max_total_cost: 10 },
      });
      const sent = await setup.send({ type: 'channel.cheer', event: { bits: 5 } });
      expect(sent.json.responses).toEqual([{ status: 200 }]);
      const { metadata, payload } = await client.waitFor('notification');
      expect(metadata).toMatchObject({
        message_id: sent.json.message_id,
        subscription_type: 'channel.cheer',
        subscription_version: '1',
      });
      expect(payload).toMatchObject({ subscription: json.data[0], event: { bits: 5 } });
    });

    it('is listed and deleted only with an access token of its user', async () => {
      const client = await connectInUse();
      const [{ id } = { id: '' }] = await list();
      expect((await setup.call('GET', path)).json).toMatchObject({ data: [], total: 0 });
      expect((await setup.call('DELETE', `${path}?id=${id}`)).status).toBe(404);
      expect((await setup.call('DELETE', `${path}?id=${id}`, undefined, mira.headers)).status).toBe(204);
      expect(client.frames).toHaveLength(1);
    });

    it.each<[string, number, string, object]>([
      ['an unknown session', 400, 'does not exist or has already disconnected', { session: 'none' }],
      [
        'a type without sockets',
        400,
        'not available',
        { type: 'user.authorization.grant', condition: { client_id: 'a' } },
      ],
      ['a scope that the token lacks', 403, 'missing proper authorization', { type: 'channel.subscribe' }],
      [
        'another user’s channel',
        403,
        'missing proper authorization',
        { condition: { broadcaster_user_id: '78' } },
      ],
      ['another type of transport', 400, 'must use app access token', { webhook: true }],
    ])('is rejected for %s', async (_, status, message, given) => {
      const { session, webhook, ...change } = given as { session?: string; webhook?: boolean };
      const client = await connect();
      const transport = webhook ? { transport: setup.subscription().transport } : {};
      const reply = await subscribe(session ?? client.sessionId, { ...change, ...transport });
      expect(reply).toMatchObject({
        status,
        json: { status, message: expect.stringContaining(message) as unknown },
      });
    });

    it('is rejected with an app access token', async () => {
      const client = await connect();
      const app = { ...mira, headers: setup.authorization };
      expect(await subscribe(client.sessionId, {}, app)).toMatchObject({
        status: 400,
        json: { message: 'invalid transport and auth combination' },
      });
    });

    it('is rejected on the socket of another user', async () => {
      const client = await connectInUse();
      await setup.call('POST', '/simulator/users', { login: 'nora', id: '78' });
      const nora = await new DeviceLogin(setup).logIn('nora', 'bits:read');
      const change = { condition: { broadcaster_user_id: '78' } };
      expect(await subscribe(client.sessionId, change, nora)).toMatchObject({ status: 400 });
    });

    it('is rejected with 429 over a cost of 10, on a fourth socket, and as the 301st of a socket', async () => {
      await setup.call('POST', '/simulator/limits', { rate_limit: 100_000 });
      const online = (session: SocketClient, id: number) =>
        subscribe(session.sessionId, {
          type: 'stream.online',
          condition: { broadcaster_user_id: String(id) },
        });
      // Subscribe immediately: the server closes unused sockets.
      const first = await connect();
      const created = await Promise.all(Array.from({ length: 10 }, (_, id) => online(first, id)));
      expect(created.map(({ status }) => status)).toEqual(Array<number>(10).fill(202));
      expect(await online(first, 10)).toMatchObject({
        status: 429,
        json: { message: 'over the limit: total cost 10' },
      });
      const [, third, fourth] = [await connectInUse(), await connectInUse(), await connect()];
      expect(await subscribe(fourth.sessionId)).toMatchObject({
        status: 429,
        json: { message: 'number of websocket transports limit exceeded' },
      });
      const reward = (id: number) =>
        subscribe(
          third.sessionId,
          {
            type: 'channel.channel_points_custom_reward.update',
            condition: { broadcaster_user_id: '77', reward_id: String(id) },
          },
          creator,
        );
      const creator = await new DeviceLogin(setup).logIn('mira', 'channel:read:redemptions');
      for (let id = 1; id < 300; id += 1) expect((await reward(id)).status).toBe(202);
      expect((await reward(300)).status).toBe(429);
    });

    it('is revoked with a message when the user disconnects the application', async () => {
      const client = await connectInUse();
      const grant = { login: 'mira', client_id: 'a-public-application' };
      await setup.call('DELETE', '/simulator/grants', grant);
      const { payload } = await client.waitFor('revocation');
      expect(payload.subscription).toMatchObject({ type: 'channel.cheer', status: 'authorization_revoked' });
    });

    it('is disabled when the client disconnects, listed for a minute, and then forgotten', async () => {
      const client = await connectInUse();
      await shortenSeconds();
      client.close();
      await eventually(async () => expect(await statuses()).toEqual(['websocket_disconnected']));
      expect(await list()).toMatchObject([{ transport: { disconnected_at: expect.any(String) as unknown } }]);
      await eventually(async () => expect(await list()).toEqual([]));
    });
  });

  describe('a planned reconnect', () => {
    const urlFor = async (client: SocketClient): Promise<string> => {
      await disturb({ action: 'reconnect', session_id: client.sessionId });
      const { session } = (await client.waitFor('session_reconnect')).payload;
      expect(session).toMatchObject({ status: 'reconnecting', keepalive_timeout_seconds: null });
      return session?.reconnect_url ?? '';
    };
    const notify = () => setup.send({ type: 'channel.cheer' });

    it('keeps the session and its subscriptions, and uses the old socket until the new welcome', async () => {
      const old = await connectInUse();
      const url = await urlFor(old);
      await notify();
      await old.waitFor('notification');
      const renewed = await SocketClient.open(url);
      clients.push(renewed);
      expect((await renewed.waitFor('session_welcome')).payload.session).toMatchObject({
        id: old.sessionId,
        status: 'connected',
        keepalive_timeout_seconds: 10,
      });
      old.close();
      await old.closed;
      await notify();
      await renewed.waitFor('notification');
      expect([old.of('notification').length, await statuses()]).toEqual([1, ['enabled']]);
    });

    it('closes an old socket that stays open, without harm to the new one', async () => {
      await shortenSeconds();
      const old = await connectInUse();
      const renewed = await SocketClient.open(await urlFor(old));
      clients.push(renewed);
      expect(await old.closed).toEqual([4004, 'client reconnect grace time expired']);
      expect(await statuses()).toEqual(['enabled']);
    });

    it('ends with 4004 when the client does not reconnect within the grace time', async () => {
      await shortenSeconds();
      const old = await connectInUse();
      await urlFor(old);
      expect(await old.closed).toEqual([4004, 'client reconnect grace time expired']);
      expect(await statuses()).toEqual(['websocket_failed_to_reconnect']);
    });

    it('rejects a URL with 4007 that is changed, used twice, or used after the old socket was closed', async () => {
      const invalid = [4007, 'invalid reconnect attempt'];
      const closedOf = async (url: string) => (await SocketClient.open(url)).closed;
      const [first, second] = [await connectInUse(), await connectInUse()];
      const url = await urlFor(first);
      expect(await closedOf(url.replace('challenge=', 'challenge=0'))).toEqual(invalid);
      const renewed = await SocketClient.open(url);
      clients.push(renewed);
      await renewed.waitFor('session_welcome');
      expect(await closedOf(url)).toEqual(invalid);
      const other = await urlFor(second);
      second.close();
      await second.closed;
      expect(await closedOf(other)).toEqual(invalid);
    });
  });

  describe('POST /simulator/sockets', () => {
    it.each([
      [4000, 'internal server error', 'websocket_internal_error'],
      [4001, 'sent inbound traffic', 'websocket_received_inbound_traffic'],
      [4002, 'failed ping pong', 'websocket_failed_ping_pong'],
      [4003, 'connection unused', 'websocket_connection_unused'],
      [4004, 'client reconnect grace time expired', 'websocket_failed_to_reconnect'],
      [4005, 'network timeout', 'websocket_network_timeout'],
      [4006, 'network error', 'websocket_network_error'],
      [4007, 'invalid reconnect attempt', 'websocket_failed_to_reconnect'],
    ])('closes sockets with %i', async (code, text, status) => {
      const client = await connectInUse();
      expect((await disturb({ action: 'close', code })).json.sockets).toHaveLength(1);
      expect(await client.closed).toEqual([code, text]);
      expect(await statuses()).toEqual([status]);
    });

    it('silences a socket, which then loses events, until it recovers', async () => {
      const client = await connectInUse();
      await disturb({ action: 'silence' });
      await setup.send({ type: 'channel.cheer', event: { bits: 1 } });
      await disturb({ action: 'recover' });
      await setup.send({ type: 'channel.cheer', event: { bits: 2 } });
      expect((await client.waitFor('notification')).payload.event).toMatchObject({ bits: 2 });
      expect([client.of('notification').length, await statuses()]).toEqual([1, ['enabled']]);
    });

    it('slows a socket down, in order', async () => {
      const client = await connectInUse();
      await disturb({ action: 'slow', delay_ms: 200 });
      const began = performance.now();
      for (const bits of [1, 2]) await setup.send({ type: 'channel.cheer', event: { bits } });
      await client.waitFor('notification', 2);
      expect(performance.now() - began).toBeGreaterThanOrEqual(190);
      expect(client.of('notification').map(({ payload }) => payload.event?.bits)).toEqual([1, 2]);
    });

    it('lists sockets, and rejects unknown ones and actions', async () => {
      const { sessionId } = await connect();
      expect((await setup.call('GET', '/simulator/sockets')).json.sockets).toEqual([
        {
          session_id: sessionId,
          connected_at: expect.any(String),
          ...{ is_silent: false, delay_ms: 0, is_reconnecting: false },
        },
      ]);
      expect((await disturb({ action: 'close', code: 4000, session_id: 'none' })).status).toBe(404);
      for (const body of [
        { action: 'dance' },
        { action: 'close' },
        { action: 'close', code: 1000 },
        { action: 'slow' },
      ])
        expect((await disturb(body)).status).toBe(400);
    });
  });

  it('get each occurrence once for each matching subscription, with its own message id', async () => {
    const [first, second] = [await connectInUse(), await connectInUse()];
    await setup.subscribe({ type: 'stream.online', version: '1', condition: { broadcaster_user_id: '77' } });
    for (const { sessionId } of [first, second])
      await subscribe(sessionId, { type: 'stream.online', condition: { broadcaster_user_id: '77' } });
    await setup.call('POST', '/simulator/streams', { user_id: '77' });
    const frames = [await first.waitFor('notification'), await second.waitFor('notification')];
    const [request] = await setup.receiver.waitFor(1, ({ json }) => json.event !== undefined);
    const ids = [
      ...frames.map(({ metadata }) => metadata.message_id),
      request?.headers['twitch-eventsub-message-id'],
    ];
    expect(new Set(ids).size).toBe(3);
    expect(frames.map(({ payload }) => payload.event)).toEqual([request?.json.event, request?.json.event]);
  });
});
