import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import type { Connection } from './connection.entity.js';
import { ConnectionsRepository } from './connections.repository.js';

const clientId = 'client';
const owner = { userId: '77', login: 'mira', scopes: ['bits:read'] };

describe(ConnectionsRepository.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let sut: ConnectionsRepository;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 2);
    sut = new ConnectionsRepository(dataSource, { SECRET_KEY: ['a secret key of the tests'] });
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  /** Adds a connection that has tokens but no known owner. */
  const add = async (): Promise<Connection> => {
    const waitsFor = { stateHash: `${Math.random()}`, expiresInMs: 60_000 };
    const added = await sut.add({ clientId, role: 'channel', scopes: [], waitsFor }, 10);
    await sut.saveTokens(added!.id, { accessToken: 'access', refreshToken: 'refresh' });
    return added!;
  };
  const states = async (): Promise<[string, string][]> =>
    (await sut.list()).map(({ id, state }) => [id, state]);

  describe('saveConnected', () => {
    it('changes nothing when a concurrent refresh has deleted the tokens, and otherwise replaces the earlier connection', async () => {
      const earlier = await add();
      expect(await sut.saveConnected(earlier, owner)).toBe(true);
      const later = await add();
      await sut.saveReconnectNeeded(later.id, 'Connect the channel again.', dataSource.manager);

      expect(await sut.saveConnected(later, owner)).toBe(false);
      expect(await states()).toEqual([
        [earlier.id, 'connected'],
        [later.id, 'reconnect_needed'],
      ]);

      await sut.saveTokens(later.id, { accessToken: 'access', refreshToken: 'refresh' });
      expect(await sut.saveConnected(later, owner)).toBe(true);
      expect(await states()).toEqual([[later.id, 'connected']]);
    });
  });
});
