import { eventually } from '@stream-events/testing';
import { DeviceLogin, secret, SimulatorSetup, type Reply } from '../../test/simulator-setup.js';
import { SocketClient } from '../../test/socket-client.js';
import { answerChallenge, isNotification } from '../../test/webhook-receiver.js';

const path = '/helix/eventsub/conduits';

describe('conduits of the simulated platform', () => {
  let setup: SimulatorSetup;
  const clients: SocketClient[] = [];

  beforeEach(async () => {
    setup = await SimulatorSetup.start();
  });

  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await setup.close();
  });

  const call = (method: string, query = '', body?: object, headers = setup.authorization): Promise<Reply> =>
    setup.call(method, path + query, body, headers);

  const create = async (shard_count = 2): Promise<string> =>
    (await call('POST', '', { shard_count })).json.data[0]!.id;

  const connect = async (): Promise<SocketClient> => {
    const client = await SocketClient.connect(setup.simulator.url);
    clients.push(client);
    return client;
  };

  const overSocket = (id: string, { sessionId }: SocketClient): object => {
    return { id, transport: { method: 'websocket', session_id: sessionId } };
  };
  const overWebhook = (id: string): object => {
    return { id, transport: { method: 'webhook', callback: `${setup.receiver.url}/${id}`, secret } };
  };
  const assign = (conduit_id: string, shards: object[]) => call('PATCH', '/shards', { conduit_id, shards });
  const shardsOf = async (id: string, query = ''): Promise<unknown[]> =>
    (await call('GET', `/shards?conduit_id=${id}${query}`)).json.data;
  const statusesOf = async (id: string): Promise<unknown[]> =>
    (await shardsOf(id)).map((shard) => (shard as { status: string }).status);

  const subscribe = (conduit_id: string, broadcaster_user_id: string): Promise<Reply> => {
    const condition = { broadcaster_user_id };
    const transport = { method: 'conduit', conduit_id };
    const body = { type: 'stream.online', version: '1', condition, transport };
    return setup.call('POST', '/helix/eventsub/subscriptions', body);
  };
  const notify = (broadcaster_user_id: string) => setup.send({ type: 'stream.online', broadcaster_user_id });

  const tenChannels = Array.from({ length: 10 }, (_, channel) => String(channel));

  /** Creates a conduit with two socket shards, and subscriptions for ten channels. */
  const start = async (): Promise<{ id: string; sockets: [SocketClient, SocketClient] }> => {
    const id = await create();
    const sockets: [SocketClient, SocketClient] = [await connect(), await connect()];
    await assign(id, [overSocket('0', sockets[0]), overSocket('1', sockets[1])]);
    const replies = await Promise.all(tenChannels.map((channel) => subscribe(id, channel)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    return { id, sockets };
  };
  const notifyAll = (): Promise<unknown> => Promise.all(tenChannels.map(notify));
  const countsOf = (sockets: SocketClient[]): number[] =>
    sockets.map((socket) => socket.of('notification').length);
  const droppedCount = async (): Promise<unknown> => {
    const { notifications } = (await setup.call('GET', '/simulator')).json;
    return (notifications as { dropped: number }).dropped;
  };

  describe('/helix/eventsub/conduits', () => {
    it('creates, lists, resizes, and deletes', async () => {
      const { status, json } = await call('POST', '', { shard_count: 3 });
      const [{ id } = { id: '' }] = json.data;
      expect([status, json]).toEqual([200, { data: [{ id: expect.any(String), shard_count: 3 }] }]);
      expect(await call('PATCH', '', { id, shard_count: 5 })).toMatchObject({
        status: 200,
        json: { data: [{ id, shard_count: 5 }] },
      });
      expect((await call('GET')).json).toEqual({ data: [{ id, shard_count: 5 }] });
      expect((await call('DELETE', `?id=${id}`)).status).toBe(204);
      expect((await call('GET')).json).toEqual({ data: [] });
    });

    it('responds with 429 to the sixth conduit of an application', async () => {
      for (let count = 0; count < 5; count += 1) await create();
      expect(await call('POST', '', { shard_count: 1 })).toMatchObject({ status: 429 });
      const other = await setup.authorize('another', 'secret');
      expect((await call('POST', '', { shard_count: 1 }, other)).status).toBe(200);
    });

    it.each([[{ shard_count: 0 }], [{ shard_count: 20_001 }], [{ shard_count: 'two' }], [{}]])(
      'responds with 400 to %j',
      async (body) => {
        expect((await call('POST', '', body)).status).toBe(400);
      },
    );

    it('responds with 404 for a conduit that is unknown or of another application', async () => {
      const id = await create();
      const other = await setup.authorize('another', 'secret');
      const shards = [overWebhook('0')];
      for (const [conduit_id, headers] of [
        ['none', setup.authorization],
        [id, other],
      ] as const) {
        const replies = [
          await call('PATCH', '', { id: conduit_id, shard_count: 1 }, headers),
          await call('DELETE', `?id=${conduit_id}`, undefined, headers),
          await call('GET', `/shards?conduit_id=${conduit_id}`, undefined, headers),
          await call('PATCH', '/shards', { conduit_id, shards }, headers),
        ];
        expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      }
      expect((await subscribe('none', '1')).status).toBe(404);
    });

    it('responds with 401 to a user access token', async () => {
      await setup.call('POST', '/simulator/users', { login: 'mira' });
      const { headers } = await new DeviceLogin(setup, 'an-application').logIn('mira');
      expect((await call('GET', '', undefined, headers)).status).toBe(401);
      expect((await call('POST', '', { shard_count: 1 }, headers)).status).toBe(401);
    });
  });

  describe('PATCH /helix/eventsub/conduits/shards', () => {
    it('accepts the conduit in the query, as twitchio sends it', async () => {
      const id = await create();
      const { status, json } = await call('PATCH', `/shards?conduit_id=${id}`, {
        shards: [overWebhook('1')],
      });
      expect({ status, errors: json.errors }).toEqual({ status: 202, errors: [] });
    });

    it('assigns sockets and webhooks, and reports the shards that fail', async () => {
      const [id, socket, used] = [await create(4), await connect(), await connect()];
      await assign(id, [overSocket('3', used)]);
      const { status, json } = await assign(id, [
        overSocket('0', socket),
        overWebhook('1'),
        overWebhook('4'),
        { id: '2', transport: { method: 'websocket', session_id: 'none' } },
        overSocket('2', used),
        { id: '2', transport: { method: 'webhook', callback: 'http://127.0.0.1:10/', secret } },
      ]);
      expect(status).toBe(202);
      const { sessionId: session_id } = socket;
      expect(json).toEqual({
        data: [
          {
            id: '0',
            status: 'enabled',
            transport: { method: 'websocket', session_id, connected_at: expect.any(String) },
          },
          {
            id: '1',
            status: 'webhook_callback_verification_pending',
            transport: { method: 'webhook', callback: `${setup.receiver.url}/1` },
          },
        ],
        errors: [
          { id: '4', message: "The shard id is outside the conduit's range", code: 'invalid_parameter' },
          ...['2', '2', '2'].map((shard) => ({
            id: shard,
            message: expect.any(String),
            code: 'invalid_parameter',
          })),
        ],
      });
      await eventually(async () => expect(await statusesOf(id)).toEqual(['enabled', 'enabled', 'enabled']));
      expect(setup.receiver.received[0]?.json).toEqual({
        challenge: expect.any(String),
        conduit_shard: { conduit_id: id, shard: '1' },
      });
      expect(await shardsOf(id, '&status=websocket_disconnected')).toEqual([]);
    });

    it('fails a webhook shard whose callback rejects the challenge', async () => {
      setup.receiver.answer = () => ({ status: 403 });
      const id = await create();
      await assign(id, [overWebhook('0')]);
      await eventually(async () =>
        expect(await statusesOf(id)).toEqual(['webhook_callback_verification_failed']),
      );
    });

    it('accepts at most 100 shards, and only webhooks and sockets', async () => {
      const id = await create();
      const many = Array.from({ length: 101 }, (_, index) => overWebhook(String(index)));
      expect((await assign(id, many)).status).toBe(400);
      expect((await assign(id, [{ id: '0', transport: { method: 'conduit', conduit_id: id } }])).status).toBe(
        400,
      );
      expect((await assign(id, [])).status).toBe(400);
    });

    it('keeps a socket open that would otherwise be unused', async () => {
      await setup.call('POST', '/simulator/limits', { socket_second_ms: 100 });
      const [id, used, unused] = [await create(), await connect(), await connect()];
      await assign(id, [overSocket('0', used)]);
      expect(await unused.closed).toEqual([4003, 'connection unused']);
      expect(await statusesOf(id)).toEqual(['enabled']);
    });
  });

  describe('a subscription', () => {
    it('is enabled immediately, listed with the conduit, and delivers over its shards', async () => {
      const { id, sockets } = await start();
      const other = await create();
      await subscribe(other, '1');
      const listed = await setup.call('GET', `/helix/eventsub/subscriptions?conduit_id=${other}`);
      expect(listed.json.data).toMatchObject([
        { status: 'enabled', transport: { method: 'conduit', conduit_id: other } },
      ]);
      await call('DELETE', `?id=${other}`);
      await notifyAll();
      await notifyAll();
      await eventually(() => expect(countsOf(sockets).reduce((a, b) => a + b)).toBe(20));
      for (const socket of sockets) {
        const channels = socket.of('notification').map(({ payload }) => payload.event?.broadcaster_user_id);
        expect(channels.length).toBe(2 * new Set(channels).size); // each channel uses one shard
        expect(channels.length).toBeGreaterThan(0);
        expect(socket.of('notification')[0]?.payload.subscription?.transport).toEqual({
          method: 'conduit',
          conduit_id: id,
        });
      }
    });

    it('survives the loss of a shard: the other shard gets its events', async () => {
      const { id, sockets } = await start();
      sockets[0].close();
      await eventually(async () =>
        expect(await statusesOf(id)).toEqual(['websocket_disconnected', 'enabled']),
      );
      await notifyAll();
      await eventually(() => expect(countsOf(sockets)).toEqual([0, 10]));
      const replacement = await connect();
      await assign(id, [overSocket('0', replacement)]);
      await notifyAll();
      await eventually(() => expect(replacement.of('notification').length).toBeGreaterThan(0));
      expect(await droppedCount()).toBe(0);
    });

    it('reports the shard that carries an occurrence, or the channel’s own shard when none is enabled', async () => {
      const { id, sockets } = await start();
      const happen = async (): Promise<unknown> => {
        const event = { broadcaster_user_id: '1' };
        return (await setup.call('POST', '/simulator/occurrences', { type: 'stream.online', event })).json;
      };
      const before = await happen();
      await eventually(() => expect(countsOf(sockets)).toContain(1));
      const own = countsOf(sockets).indexOf(1);
      expect(before).toEqual({ subscriptions: 1, shards: [String(own)] });

      sockets[own]!.close();
      await eventually(async () => expect(await statusesOf(id)).toContain('websocket_disconnected'));
      expect(await happen()).toMatchObject({ shards: [String(1 - own)] });
      sockets[1 - own]!.close();
      await eventually(async () => expect(await statusesOf(id)).not.toContain('enabled'));
      expect(await happen()).toMatchObject({ shards: [String(own)] });
    });

    it('loses events while all shards are disabled', async () => {
      const { id, sockets } = await start();
      for (const socket of sockets) socket.close();
      await eventually(async () =>
        expect(await statusesOf(id)).toEqual(['websocket_disconnected', 'websocket_disconnected']),
      );
      await notifyAll();
      expect(await droppedCount()).toBe(10);
      const { json } = await setup.call('GET', '/helix/eventsub/subscriptions?status=enabled');
      expect(json.data).toHaveLength(10);
    });

    it('keeps its shard through a planned reconnect', async () => {
      const { id, sockets } = await start();
      const { sessionId: session_id } = sockets[0];
      await setup.call('POST', '/simulator/sockets', { action: 'reconnect', session_id });
      const { session } = (await sockets[0].waitFor('session_reconnect')).payload;
      const renewed = await SocketClient.open(session?.reconnect_url ?? '');
      clients.push(renewed);
      await renewed.waitFor('session_welcome');
      sockets[0].close();
      await sockets[0].closed;
      await notifyAll();
      await eventually(() => expect(renewed.of('notification').length).toBeGreaterThan(0));
      expect(await statusesOf(id)).toEqual(['enabled', 'enabled']);
    });

    it('is disabled when the conduit is deleted, also after too long without an enabled shard', async () => {
      const { id } = await start();
      await call('DELETE', `?id=${id}`);
      const statuses = async (): Promise<Set<string>> => {
        const { json } = await setup.call('GET', '/helix/eventsub/subscriptions');
        return new Set(json.data.map(({ status }) => status));
      };
      expect(await statuses()).toEqual(new Set(['conduit_deleted']));
      await setup.call('POST', '/simulator/limits', { dead_conduit_seconds: 1 });
      const [dying, socket] = [await create(1), await connect()];
      await assign(dying, [overSocket('0', socket)]);
      await subscribe(dying, '77');
      expect(await statuses()).toEqual(new Set(['conduit_deleted', 'enabled']));
      socket.close();
      await eventually(async () => expect((await call('GET')).json.data).toEqual([]));
      expect(await statuses()).toEqual(new Set(['conduit_deleted']));
    });

    it('uses the remaining shard when the conduit shrinks', async () => {
      const { id, sockets } = await start();
      await call('PATCH', '', { id, shard_count: 1 });
      await notifyAll();
      await eventually(() => expect(countsOf(sockets)).toEqual([10, 0]));
    });
  });

  describe('conduit.shard.disabled', () => {
    const watch = (conduit_id?: string): Promise<{ id: string }> =>
      setup.subscribe({
        type: 'conduit.shard.disabled',
        version: '1',
        condition: { client_id: 'an-application', ...(conduit_id !== undefined && { conduit_id }) },
      });

    it('reports the socket that was lost', async () => {
      const { id, sockets } = await start();
      await watch();
      const { sessionId: session_id } = sockets[1];
      await setup.call('POST', '/simulator/sockets', { action: 'close', code: 4000, session_id });
      const [message] = await setup.receiver.waitFor(1, isNotification);
      expect(message?.json.event).toEqual({
        conduit_id: id,
        shard_id: '1',
        status: 'websocket_internal_error',
        transport: {
          method: 'websocket',
          callback: null,
          session_id,
          connected_at: expect.any(String),
          disconnected_at: expect.any(String),
        },
      });
    });

    it('reports a webhook that keeps failing, and ignores other conduits', async () => {
      await setup.call('POST', '/simulator/limits', { max_failed_notifications: 2, retry_delays_ms: [] });
      const [id, other] = [await create(1), await create(1)];
      await assign(id, [overWebhook('0')]);
      await eventually(async () => expect(await statusesOf(id)).toEqual(['enabled']));
      await subscribe(id, '77');
      await watch(id);
      await watch(other);
      setup.receiver.answer = (received) =>
        received.path.endsWith('/0') ? { status: 500 } : answerChallenge(received);
      for (const _ of [1, 2]) {
        await setup.call('POST', '/simulator/users', { login: 'mira', id: '77' });
        await setup.call('POST', '/simulator/streams', { user_id: '77' });
        await setup.call('DELETE', '/simulator/streams/77', { notify: false });
      }
      const isReport = ({ json }: { json: { event?: { conduit_id?: unknown } } }): boolean =>
        json.event?.conduit_id !== undefined;
      const [report] = await setup.receiver.waitFor(1, isReport);
      expect(report?.json.event).toMatchObject({ conduit_id: id, status: 'notification_failures_exceeded' });
      expect(setup.receiver.received.filter(isReport)).toHaveLength(1);
      expect(await statusesOf(id)).toEqual(['notification_failures_exceeded']);
    });

    it('cannot be subscribed to for another application or an unknown conduit', async () => {
      const body = setup.subscription({ type: 'conduit.shard.disabled', version: '1' });
      const subscribeTo = (condition: object) =>
        setup.call('POST', '/helix/eventsub/subscriptions', { ...body, condition });
      expect((await subscribeTo({ client_id: 'another' })).status).toBe(403);
      expect((await subscribeTo({ client_id: 'an-application', conduit_id: 'none' })).status).toBe(404);
    });
  });
});
