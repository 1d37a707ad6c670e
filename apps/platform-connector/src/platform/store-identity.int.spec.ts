import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { claimStoreFor } from './store-identity.js';

describe(claimStoreFor.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 4);
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  it('gives a database to the platform of the first start, and to no other', async () => {
    await Promise.all([1, 2, 3].map(() => claimStoreFor('simulator', dataSource)));

    await expect(claimStoreFor('twitch', dataSource)).rejects.toThrow(
      'this database holds subscriptions of platform simulator, but PLATFORM is twitch',
    );
    await claimStoreFor('simulator', dataSource);
  });
});
