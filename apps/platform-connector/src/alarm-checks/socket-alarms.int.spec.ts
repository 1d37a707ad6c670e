import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { application, SimulatedPlatform } from '../../test/simulated-platform.js';
import { alarmTimes } from '../alarms/alarm-times.js';
import { ShardsRepository } from '../conduits/shards.repository.js';
import { SocketAlarms } from './socket-alarms.service.js';

// While a test disturbs the platform, the pause between connection attempts can grow to 30 s.
const patiently = { timeoutMs: 60_000 };
jest.setTimeout(180_000);
const holdMs = 30_000;

describe(SocketAlarms.name, () => {
  let platform: SimulatedPlatform;
  let setup: ConnectorSetup;
  let now: number;

  beforeAll(async () => {
    [platform, setup] = await Promise.all([SimulatedPlatform.start(), ConnectorSetup.start()]);
  });
  beforeEach(() => {
    now = 0;
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await platform.setFault('ok');
    await setup.reset();
    await setup.dataSource.query(
      'TRUNCATE alarms, conduits, conduit_shards, shard_holders, reconciliation, subscriptions, user_sessions',
    );
    await setup.dataSource.query('INSERT INTO reconciliation DEFAULT VALUES');
    const { json } = await platform.call<{ data: { id: string }[] }>('GET', '/helix/eventsub/conduits');
    for (const { id } of json.data) await platform.deleteConduit(id);
  });
  afterAll(() => Promise.all([platform.stop(), setup.stop()]));

  const create = (environment: Record<string, string> = {}): Promise<ConnectorInstance> =>
    setup.createInstance(
      {
        PLATFORM_CLIENT_ID: application.clientId,
        PLATFORM_CLIENT_SECRET: application.clientSecret,
        PLATFORM_API_URL: `${platform.url}/helix`,
        PLATFORM_AUTH_URL: `${platform.url}/oauth2`,
        PLATFORM_SOCKET_URL: platform.socketUrl,
        ...environment,
      },
      { ...alarmTimes, now: () => now },
    );

  const openKeys = async ({ alarmList }: ConnectorInstance): Promise<string[]> =>
    (await alarmList.listOpen()).map(({ key }) => key).sort();

  /** The connector that holds the users' sockets. `check` renews its leases. */
  const holder = randomUUID();

  /** Runs a check, and returns the keys of the open alarms. */
  const check = async (instance: ConnectorInstance): Promise<string[]> => {
    await setup.dataSource.query(
      `UPDATE user_sessions SET held_until = now() + interval '10 seconds' WHERE holder = $1`,
      [holder],
    );
    await instance.socketAlarms.run();
    await instance.alarms.saveChanges();
    return openKeys(instance);
  };

  /** Expects that the fault raises no alarm before the hold time, then checks again after it. */
  const checkAfterHold = async (instance: ConnectorInstance): Promise<string[]> => {
    const before = await openKeys(instance);
    expect(await check(instance)).toEqual(before);
    now += holdMs - 1;
    expect(await check(instance)).toEqual(before);
    now += 1;
    return check(instance);
  };

  const messages = async ({ alarmList }: ConnectorInstance): Promise<string> =>
    (await alarmList.listOpen()).map(({ message }) => message).join('\n');

  describe('with a conduit', () => {
    const states = async ({ status }: ConnectorInstance): Promise<unknown[]> =>
      (await status.read()).transport.conduit?.shards.map(({ state }) => state) ?? [];
    const untilStates = (instance: ConnectorInstance, expected: string[]): Promise<void> =>
      eventually(async () => expect(await states(instance)).toEqual(expected), patiently);
    const start = async (): Promise<ConnectorInstance> => {
      const instance = await create();
      await instance.shards.start();
      await untilStates(instance, ['enabled', 'enabled']);
      return instance;
    };

    it('raises one alarm when all shards are lost for 30 s, which another instance clears when they are back', async () => {
      const instance = await start();
      expect(await checkAfterHold(instance)).toEqual([]);
      await platform.setFault('down');
      await platform.disturb('close', { code: 4000 });
      await untilStates(instance, ['connecting', 'connecting']);

      expect(await checkAfterHold(instance)).toEqual(['transport_down:conduit']);
      expect(await messages(instance)).toMatch(
        /^No shard of the conduit has a connection.*PLATFORM_SOCKET_URL/,
      );

      instance.socketAlarms.stop();
      await platform.setFault('ok');
      await untilStates(instance, ['enabled', 'enabled']);
      expect(await check(await create())).toEqual([]);
    });

    it('raises an alarm about one shard, keeps it when all are lost, and clears it when the shard is back', async () => {
      const instance = await start();
      const socket = await takeShard(await conduitId());
      await untilStates(instance, ['foreign', 'enabled']);

      expect(await checkAfterHold(instance)).toEqual(['shard_lost:0']);
      expect(await messages(instance)).toMatch(/^Shard 0: .*Another installation/);

      // Simulate another connector that has taken both shards. The mock keeps this connector from taking them back before the check.
      const claim = jest.spyOn(ShardsRepository.prototype, 'claim').mockResolvedValue(false);
      await setup.dataSource.query(
        `UPDATE conduit_shards SET status = 'connecting', holder = gen_random_uuid()`,
      );
      expect(await check(instance)).toEqual(['shard_lost:0']);
      claim.mockRestore();
      socket.close();
      await untilStates(instance, ['enabled', 'enabled']);
      expect(await check(instance)).toEqual([]);
    });

    it('raises an alarm when there is no conduit, with what the owner must do', async () => {
      for (let count = 0; count < 5; count += 1)
        await platform.call('POST', '/helix/eventsub/conduits', { shard_count: 1 });
      const instance = await create();
      await instance.shards.start();
      await eventually(
        async () => expect((await instance.status.read()).transport.problem).not.toBeNull(),
        patiently,
      );

      expect(await checkAfterHold(instance)).toEqual(['transport_down:conduit']);
      expect(await messages(instance)).toContain('Delete a conduit that no installation uses');
    });

    const conduitId = async (): Promise<string> => {
      const [row] = await setup.dataSource.query<{ id: string }[]>('SELECT conduit_id AS id FROM conduits');
      return row!.id;
    };

    /** Takes shard 0, as another installation of the application would. */
    async function takeShard(conduit: string): Promise<WebSocket> {
      const socket = new WebSocket(platform.socketUrl);
      const [frame] = (await once(socket, 'message')) as [Buffer]; // Safe cast: ws delivers Buffers by default.
      const { payload } = JSON.parse(frame.toString()) as { payload: { session: { id: string } } };
      await platform.assignShard(conduit, payload.session.id);
      return socket;
    }
  });

  describe('with the sockets of users', () => {
    const start = (): Promise<ConnectorInstance> => create({ PLATFORM_TRANSPORT: 'websocket' });

    /** Adds a connected user, and a subscription that needs a socket of this user. */
    async function addUser(userId: string): Promise<void> {
      await setup.dataSource.query(
        `INSERT INTO connections (id, client_id, state, user_id, login, scopes, access_token_encrypted, refresh_token_encrypted)
         VALUES (gen_random_uuid(), $1, 'connected', $2, 'login_' || $2, '{}', 'none', 'none')`,
        [application.clientId, userId],
      );
      await setup.dataSource.query(
        `INSERT INTO subscriptions (id, type, version, condition, status)
         VALUES (gen_random_uuid(), 'channel.cheer', '1', jsonb_build_object('broadcaster_user_id', $1::text), 'waiting')`,
        [userId],
      );
    }

    const sessions = (): Promise<{ session: string | null }[]> =>
      setup.dataSource.query<{ session: string | null }[]>('SELECT session_id AS session FROM user_sessions');

    it('raises an alarm when the only socket is lost for 30 s, and clears it when it is connected again', async () => {
      await addUser('77');
      const instance = await start();
      instance.userSockets.start();
      await eventually(
        async () => expect(await sessions()).toEqual([{ session: expect.any(String) }]),
        patiently,
      );
      expect(await check(instance)).toEqual([]);
      await platform.setFault('down');
      await platform.disturb('close', { code: 4006 });
      await eventually(async () => expect(await sessions()).toEqual([{ session: null }]), patiently);

      expect(await checkAfterHold(instance)).toEqual(['transport_down:websocket']);
      await platform.setFault('ok');
      await eventually(
        async () => expect(await sessions()).toEqual([{ session: expect.any(String) }]),
        patiently,
      );
      expect(await check(instance)).toEqual([]);
    });

    it('raises an alarm about the user whose socket is lost, and one when all are', async () => {
      const instance = await start();
      await Promise.all(['77', '78'].map(addUser));
      await setup.dataSource.query(
        `INSERT INTO user_sessions (user_id, session_id, holder) VALUES ('77', NULL, $1), ('78', 'one', $1)`,
        [holder],
      );
      expect(await checkAfterHold(instance)).toEqual(['transport_down:websocket:77']);
      expect(await messages(instance)).toContain('The event socket of login_77 is not connected');

      // Simulate the death of the connector that holds user 78's session.
      await setup.dataSource.query(
        `UPDATE user_sessions SET holder = gen_random_uuid(), held_until = now() WHERE user_id = '78'`,
      );
      expect(await checkAfterHold(instance)).toEqual([
        'transport_down:websocket',
        'transport_down:websocket:77',
      ]);
      await setup.dataSource.query(`UPDATE user_sessions SET session_id = 'two', holder = $1`, [holder]);
      expect(await check(instance)).toEqual([]);
    });

    it('raises no alarm about a socket that no subscription needs', async () => {
      const instance = await start();
      await setup.dataSource.query(`INSERT INTO user_sessions (user_id) VALUES ('77')`);
      expect(await checkAfterHold(instance)).toEqual([]);
      await addUser('79');
      expect(await checkAfterHold(instance)).toEqual(['transport_down:websocket']);
    });

    it('raises an alarm when subscriptions wait for the first user', async () => {
      const instance = await start();
      expect(await checkAfterHold(instance)).toEqual([]);
      await addUser('77');
      expect(await checkAfterHold(instance)).toEqual(['transport_down:websocket']);
      expect(await messages(instance)).toContain('Connect a channel');
    });
  });
});
