import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import type { ShardOutcome } from '@stream-events/platforms';
import { eventually } from '@stream-events/testing';
import { ConnectorSetup, type ConnectorInstance } from '../../test/connector-setup.js';
import { application, SimulatedPlatform } from '../../test/simulated-platform.js';
import { ShardKeeper } from './shard-keeper.service.js';
import type { Shard } from './shard-rules.js';
import { shardLease, ShardsRepository } from './shards.repository.js';

const patiently = { timeoutMs: 60_000 };
// Long, because a test can wait for the shards several times.
jest.setTimeout(240_000);

interface Gap {
  source: string;
  from: Date;
  until: Date | null;
}

describe(ShardKeeper.name, () => {
  let platform: SimulatedPlatform;
  let setup: ConnectorSetup;
  let repository: ShardsRepository;

  beforeAll(async () => {
    [platform, setup] = await Promise.all([SimulatedPlatform.start(), ConnectorSetup.start()]);
    repository = new ShardsRepository(setup.dataSource);
  });

  afterEach(async () => {
    await setup.reset();
    await platform.deleteConduit(await conduitId());
    await setup.dataSource.query(
      'TRUNCATE conduits, conduit_shards, shard_holders, reconciliation, delivery_gaps',
    );
    await setup.dataSource.query('INSERT INTO reconciliation DEFAULT VALUES');
  });

  afterAll(() => Promise.all([platform.stop(), setup.stop()]));

  const start = async (): Promise<ConnectorInstance> => {
    const instance = await setup.createInstance({
      PLATFORM_CLIENT_ID: application.clientId,
      PLATFORM_CLIENT_SECRET: application.clientSecret,
      PLATFORM_API_URL: `${platform.url}/helix`,
      PLATFORM_AUTH_URL: `${platform.url}/oauth2`,
      PLATFORM_SOCKET_URL: platform.socketUrl,
    });
    await instance.shards.start();
    return instance;
  };
  const conduitId = async (): Promise<string> => {
    const [conduit] = await setup.dataSource.query<{ id: string | null }[]>(
      'SELECT conduit_id AS id FROM conduits',
    );
    return conduit?.id ?? '';
  };
  const shards = async (): Promise<Shard[]> => repository.list(await conduitId());
  /** Waits until both shards are enabled and held by this many connectors. */
  const untilEnabled = (holders: number): Promise<void> =>
    eventually(async () => {
      const listed = await shards();
      expect(listed.map(({ status }) => status)).toEqual(['enabled', 'enabled']);
      expect(listed.map(({ holder }) => holder)).not.toContain(null);
      expect(new Set(listed.map(({ holder }) => holder)).size).toBe(holders);
    }, patiently);
  const gaps = (): Promise<Gap[]> =>
    setup.dataSource.query(
      'SELECT source, from_at AS "from", until_at AS until FROM delivery_gaps ORDER BY source',
    );

  it('reports a gap when a stopping connector closes a session before another connector has assigned its own', async () => {
    const stopping = await start();
    await untilEnabled(1);
    const [{ holder }] = (await shards()) as [Shard]; // Safe cast: both shards are enabled.
    const staying = await start();
    await untilEnabled(2);
    const closed = (await shards()).find((shard) => shard.holder === holder);

    // Make the first assignment take longer than the stopping connector waits, and then fail.
    let refuse = (): void => undefined;
    const refused = new Promise<ShardOutcome>((resolve) => {
      refuse = () => resolve({ kind: 'refused', message: 'too late' });
    });
    jest.spyOn(staying.platform, 'assignShard').mockReturnValueOnce(refused);
    await stopping.close();
    const closedAt = Date.now();
    refuse();
    await untilEnabled(1);
    await staying.close();

    const [gap, ...others] = await gaps();
    expect(gap).toMatchObject({ source: `shard ${closed?.id}` });
    expect(gap!.from.getTime()).toBeLessThan(closedAt);
    expect(gap!.until!.getTime()).toBeGreaterThanOrEqual(closedAt);
    // The other shard moved first, while its holder kept the session open.
    expect(others).toEqual([]);
  });

  it('reports one gap per shard, from the last frame, when a connector stops and another connector starts', async () => {
    const stopping = await start();
    await untilEnabled(1);
    await platform.disturb('silence');
    const silentSince = Date.now();
    await eventually(async () => {
      for (const { heldUntil } of await shards())
        expect(heldUntil! - shardLease.seconds * 1_000).toBeGreaterThan(silentSince);
    }, patiently);
    for (const { settledUntil } of await shards()) expect(settledUntil).toBeLessThanOrEqual(silentSince);
    await stopping.close();
    const starting = await start();
    await untilEnabled(1);
    await starting.close();

    const reported = await gaps();
    expect(reported.map(({ source }) => source)).toEqual(['shard 0', 'shard 1']);
    for (const { from } of reported) expect(from.getTime()).toBeLessThanOrEqual(silentSince);
  });

  it('keeps the session of a shard that another connector has taken and cannot connect', async () => {
    const instance = await start();
    await untilEnabled(1);
    const sessionIds = (await shards()).map(({ sessionId }) => sessionId);
    const other = { id: randomUUID(), name: 'cannot connect' };
    const untilOffered = (): Promise<Shard> =>
      eventually(async () => {
        await repository.renew(other, []);
        const offered = (await shards()).find(({ holder }) => holder === null);
        expect(offered).toBeDefined();
        return offered!;
      }, patiently);

    const offered = await untilOffered();
    expect(await repository.claim(await conduitId(), offered, { me: other.id, isOpen: false })).toBe(true);
    await setup.dataSource.query(
      `UPDATE conduit_shards SET status_since = now() - interval '5 seconds' WHERE holder = $1`,
      [other.id],
    );
    // The connector takes the shard back. It then offers the shard again, because the other connector has none.
    await untilOffered();

    expect((await shards()).map(({ sessionId }) => sessionId)).toEqual(sessionIds);
    expect(await platform.sessions()).toEqual(expect.arrayContaining(sessionIds));
    await instance.close();
    expect(await gaps()).toEqual([]);
  });
});
