import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { ConduitsRepository } from './conduits.repository.js';
import { ShardsRepository } from './shards.repository.js';

const clientId = 'client';
const conduitId = 'conduit';

describe(`${ConduitsRepository.name} after the database's clock was set back by an hour`, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let conduits: ConduitsRepository;
  let shards: ShardsRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    conduits = new ConduitsRepository(dataSource);
    shards = new ShardsRepository(dataSource);
  });

  beforeEach(async () => {
    await dataSource.query('TRUNCATE conduits, conduit_shards, shard_holders');
    await conduits.start(clientId, 1);
    await conduits.saveCreated(clientId, { id: conduitId, shardCount: 1 });
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const now = async (): Promise<number> => {
    const [row] = await dataSource.query<{ now: Date }[]>('SELECT now()');
    return row!.now.getTime();
  };
  const minutesAhead = async (minutes: number): Promise<Date> => new Date((await now()) + minutes * 60_000);
  /** Adds a connector that takes shards and whose lease ends in this many minutes. */
  const addHolder = async (minutes: number): Promise<void> => {
    const id = randomUUID();
    await shards.renew({ id, name: 'holder' }, []);
    await dataSource.query('UPDATE shard_holders SET held_until = $1', [await minutesAhead(minutes)]);
    await dataSource.query('UPDATE conduit_shards SET holder = $1', [id]);
  };

  describe('saveListing', () => {
    it.each([
      ['replaces a status from before the change', 60, 'websocket_disconnected'],
      ['keeps a status that is newer than the listing', 0, 'enabled'],
    ])('%s', async (_, minutes, status) => {
      await dataSource.query(
        `UPDATE conduit_shards SET status = 'enabled', session_id = 'session', status_since = $1`,
        [await minutesAhead(minutes)],
      );
      const listed = [{ id: 0, status: 'websocket_disconnected', sessionId: 'session' }];
      await conduits.saveListing(conduitId, listed, await minutesAhead(-1));

      expect(await shards.list(conduitId)).toMatchObject([{ status }]);
    });

    it('expects no shard at a connector that has died', async () => {
      await addHolder(60);
      await dataSource.query(
        `UPDATE conduit_shards SET holder = NULL, status = 'enabled', session_id = 'one'`,
      );

      const listed = [{ id: 0, status: 'enabled', sessionId: 'one' }];
      expect(await conduits.saveListing(conduitId, listed, await minutesAhead(0))).toBe(true);
    });
  });

  describe('find', () => {
    it('counts every listing for a connector that started before the change', async () => {
      const isChecked = async (since: Date): Promise<unknown> =>
        (await conduits.find(clientId, since))?.isChecked;
      expect(await isChecked(await minutesAhead(60))).toBe(false);
      await conduits.saveListing(conduitId, [], await minutesAhead(0));

      expect(await isChecked(await minutesAhead(60))).toBe(true);
      expect(await isChecked(await minutesAhead(0.5))).toBe(false);
    });
  });

  describe(ShardsRepository.name, () => {
    it('neither counts nor shows a holder that has died', async () => {
      await addHolder(60);
      expect(await shards.countHolders()).toBe(0);
      expect(await shards.describe(conduitId)).toMatchObject([{ holder: null }]);
    });

    it('counts a status from before the change as old', async () => {
      await dataSource.query('UPDATE conduit_shards SET status_since = $1', [await minutesAhead(60)]);
      const [shard] = await shards.list(conduitId);
      expect(shard!.statusForMs).toBeGreaterThan(50 * 60_000);
    });
  });
});
