import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { jest } from '@jest/globals';
import type { CallPlatformRequest } from '@stream-events/contracts';
import { PlatformCallError } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { WebSocket } from 'ws';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { application, SimulatedPlatform } from '../../test/simulated-platform.js';
import { ShardsRepository } from './shards.repository.js';

const conduitsPath = '/helix/eventsub/conduits';
const patiently = { timeoutMs: 60_000 };
// Long, because a test can wait for the shards several times.
jest.setTimeout(240_000);

interface Conduits {
  data: { id: string; shard_count: number }[];
}

describe('the conduit of an installation', () => {
  let platform: SimulatedPlatform;
  let setup: ConnectorSetup;

  beforeAll(async () => {
    [platform, setup] = await Promise.all([SimulatedPlatform.start(), ConnectorSetup.start()]);
  });

  afterEach(async () => {
    jest.restoreAllMocks();
    await setup.reset();
    await setup.dataSource.query('TRUNCATE conduits, conduit_shards, shard_holders, reconciliation');
    await setup.dataSource.query('INSERT INTO reconciliation DEFAULT VALUES');
    for (const { id } of await conduits()) await platform.deleteConduit(id);
  });

  afterAll(() => Promise.all([platform.stop(), setup.stop()]));

  const create = (environment: Record<string, string> = {}): Promise<ConnectorInstance> =>
    setup.createInstance({
      PLATFORM_CLIENT_ID: application.clientId,
      PLATFORM_CLIENT_SECRET: application.clientSecret,
      PLATFORM_API_URL: `${platform.url}/helix`,
      PLATFORM_AUTH_URL: `${platform.url}/oauth2`,
      PLATFORM_SOCKET_URL: platform.socketUrl,
      ...environment,
    });
  const start = async (environment: Record<string, string> = {}): Promise<ConnectorInstance> => {
    const instance = await create(environment);
    await instance.shards.start();
    return instance;
  };

  const conduits = async (): Promise<Conduits['data']> =>
    (await platform.call<Conduits>('GET', conduitsPath)).json.data;
  const states = async ({ status }: ConnectorInstance): Promise<unknown[]> =>
    (await status.read()).transport.conduit?.shards.map(({ state }) => state) ?? [];
  const untilStates = (instance: ConnectorInstance, expected: string[]): Promise<void> =>
    eventually(async () => expect(await states(instance)).toEqual(expected), patiently);
  /** Calls the platform's API through the connector, as an owner. */
  const call = async (
    instance: ConnectorInstance,
    request: Pick<CallPlatformRequest, 'path'> & Partial<CallPlatformRequest>,
  ): Promise<{ status: number; text: string }> => {
    const reply = await instance.calls.call({
      method: 'GET',
      query: '',
      body: null,
      connectionId: null,
      ...request,
    });
    return { status: reply.status, text: Buffer.from(reply.body, 'base64').toString() };
  };
  const bothEnabled = ['enabled', 'enabled'];
  const replyLost = new PlatformCallError('timeout', 'The platform did not reply in time.');
  /** Opens a session that this installation does not know. */
  const openForeignSession = async (): Promise<{ socket: WebSocket; sessionId: string }> => {
    const socket = new WebSocket(platform.socketUrl);
    const [frame] = (await once(socket, 'message')) as [Buffer]; // Safe cast: ws delivers Buffers by default.
    const { payload } = JSON.parse(frame.toString()) as { payload: { session: { id: string } } };
    return { socket, sessionId: payload.session.id };
  };

  it('is created once by two connectors, which share its shards, and is adopted by later ones', async () => {
    const [one, two] = await Promise.all([start(), start()]);
    await untilStates(one, bothEnabled);
    await eventually(async () => {
      const shards = (await two.status.read()).transport.conduit?.shards ?? [];
      // Both connectors run in this process. They have the same name, but different ids.
      expect(new Set(shards.map(({ holder }) => holder)).size).toBe(1);
      const rows = await setup.dataSource.query('SELECT DISTINCT holder FROM conduit_shards');
      expect(rows).toHaveLength(2);
    }, patiently);
    const [created] = await conduits();
    await one.close();
    await untilStates(two, bothEnabled);
    await two.close();

    const third = await start();
    await untilStates(third, bothEnabled);
    expect(await conduits()).toEqual([created]);
    expect(await third.metrics.metrics()).toContain('platform_conduit_shards{state="enabled"} 2');
  });

  it('is adopted when the platform created it but the reply was lost', async () => {
    const instance = await create();
    const createConduit = instance.platform.createConduit.bind(instance.platform);
    jest.spyOn(instance.platform, 'createConduit').mockImplementationOnce(async (shardCount) => {
      await createConduit(shardCount);
      throw replyLost;
    });
    await instance.shards.start();
    await untilStates(instance, bothEnabled);

    expect(await conduits()).toMatchObject([{ id: (await instance.status.read()).transport.conduit?.id }]);
  });

  it('is not the conduit that another installation created while a reply was lost', async () => {
    const instance = await create({ PLATFORM_CONDUIT_SHARDS: '1' });
    let theirs = '';
    let socket: WebSocket | undefined;
    jest.spyOn(instance.platform, 'createConduit').mockImplementationOnce(async () => {
      theirs = await platform.createConduit();
      const session = await openForeignSession();
      socket = session.socket;
      await platform.assignShard(theirs, session.sessionId);
      throw replyLost;
    });
    await instance.shards.start();
    await untilStates(instance, ['enabled']);

    expect((await instance.status.read()).transport.conduit?.id).not.toBe(theirs);
    expect(await conduits()).toHaveLength(2);
    socket?.close();
  });

  it('gets another number of shards', async () => {
    const first = await start();
    await untilStates(first, bothEnabled);
    await first.close();
    const second = await start({ PLATFORM_CONDUIT_SHARDS: '3' });
    await untilStates(second, ['enabled', 'enabled', 'enabled']);
    await second.close();
    await untilStates(await start({ PLATFORM_CONDUIT_SHARDS: '1' }), ['enabled']);
    expect(await conduits()).toMatchObject([{ shard_count: 1 }]);
  });

  it('asks the owner when the platform allows no more conduits, and uses none of the others', async () => {
    for (let count = 0; count < 5; count += 1) await platform.call('POST', conduitsPath, { shard_count: 1 });
    const foreign = await conduits();
    const instance = await start();
    await eventually(async () => {
      const { transport } = await instance.status.read();
      expect(transport.problem).toContain('Delete a conduit that no installation uses');
      expect(transport.conduit).toMatchObject({ id: null, shards: [] });
    }, patiently);
    expect(setup.logs).toContain('cannot create a conduit');
    // A session of the previous test may still be closing.
    await eventually(async () => expect(await platform.sessions()).toEqual([]));

    // Follow the problem's own advice: delete a conduit that is not in use.
    const path = 'eventsub/conduits';
    const listed = await call(instance, { path });
    expect(JSON.parse(listed.text)).toMatchObject({ data: foreign });
    expect((await call(instance, { method: 'DELETE', path, query: `id=${foreign[0]!.id}` })).status).toBe(
      204,
    );
    await setup.dataSource.query('UPDATE conduits SET check_due_at = now()');
    await untilStates(instance, bothEnabled);
    expect((await instance.status.read()).transport.problem).toBeNull();

    const id = (await instance.status.read()).transport.conduit?.id ?? '';
    for (const query of [`id=${id}`, `id=${foreign[1]!.id}&id=${id.toUpperCase()}`])
      await expect(call(instance, { method: 'DELETE', path, query })).rejects.toMatchObject({
        code: 'forbidden',
      });
    expect((await conduits()).map((each) => each.id)).toContain(id);
  });

  it('is not taken from another installation that uses a copy of the database', async () => {
    const instance = await start();
    await untilStates(instance, bothEnabled);
    const [conduit] = await conduits();
    // Simulate a copied database whose connector starts later: it does not know the sessions on the platform.
    await instance.close();
    const { socket, sessionId: theirs } = await openForeignSession();
    await platform.assignShard(conduit!.id, theirs);

    const copy = await start();
    await untilStates(copy, ['foreign', 'enabled']);
    expect((await copy.status.read()).transport.problem).toContain('Another installation');
    expect(await platform.sessions()).toContain(theirs);

    socket.close();
    await untilStates(copy, bothEnabled);
  });

  it('is forgotten when no subscription needs it and the client secret was removed, and is not reported until then', async () => {
    const first = await start();
    await untilStates(first, bothEnabled);
    await first.close();
    await setup.dataSource.query('UPDATE conduits SET is_retired = true, check_due_at = now()');

    const withoutSecret = await create({ PLATFORM_CLIENT_SECRET: '' });
    expect((await withoutSecret.status.read()).transport.conduit).toBeNull();
    await withoutSecret.shards.start();
    await eventually(
      async () => expect(await setup.dataSource.query('SELECT FROM conduits')).toEqual([]),
      patiently,
    );
    expect(setup.logs).toContain('conduit not deleted, because there is no client secret');
  });

  it('counts the holder of a shard as gone when its database session has ended', async () => {
    const shards = new ShardsRepository(setup.dataSource);
    const holder = randomUUID();
    await shards.renew({ id: holder, name: 'test' }, []);
    await setup.dataSource.query(
      `INSERT INTO conduit_shards (conduit_id, shard_id, holder) VALUES ('conduit', 0, $1)`,
      [holder],
    );
    const areGone = async (): Promise<boolean[]> =>
      (await shards.list('conduit')).map(({ isGone }) => isGone);
    expect(await areGone()).toEqual([false]);
    expect(await shards.countHolders()).toBe(1);

    await setup.dataSource.query('UPDATE shard_holders SET backend = 0');
    expect(await areGone()).toEqual([true]);
    // Its share goes to the others at once, without waiting for the end of its lease.
    expect(await shards.countHolders()).toBe(0);
  });

  it('connects a shard again when the platform closes its session', async () => {
    const instance = await start();
    await untilStates(instance, bothEnabled);
    const [lost] = await platform.sessions();
    await platform.disturb('close', { session_id: lost, code: 4000 });
    await eventually(async () => {
      const sessions = await platform.sessions();
      expect(sessions).toHaveLength(2);
      expect(sessions).not.toContain(lost);
    }, patiently);
    await untilStates(instance, bothEnabled);
  });
});
