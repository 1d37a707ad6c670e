import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectConnector } from '../../test/connect-connector.js';
import { catalogueSeeds, type CatalogueSeeds } from './catalogue-seeds.js';
import { seedCatalogue } from './seed-catalogue.js';

const [firstScope, secondScope] = catalogueSeeds.scopes;
const [firstEndpoint, secondEndpoint] = catalogueSeeds.apiEndpoints;
if (!firstScope || !secondScope || !firstEndpoint || !secondEndpoint) throw new Error('there are no seeds');

/** A version whose seeds are these few. */
const smallVersion: CatalogueSeeds = {
  scopes: [firstScope],
  apiEndpoints: [{ ...firstEndpoint, scope: firstScope.id }],
};

describe(seedCatalogue.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  // Each test begins with a new installation.
  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 5);
  });

  afterEach(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const scopes = (): Promise<object[]> =>
    dataSource.query('SELECT id, scope, required FROM scopes ORDER BY id');
  const endpoints = (): Promise<{ id: string }[]> =>
    dataSource.query(`SELECT id, description, endpoint, method, reference_url AS "referenceUrl", token_type AS "tokenType", scope
      FROM api_endpoints ORDER BY number`);
  const sortById = <T extends { id: string }>(rows: readonly T[]): T[] =>
    [...rows].sort((a, b) => (a.id < b.id ? -1 : 1));

  it('fills a new installation with all seeds, the endpoints in their order', async () => {
    await seedCatalogue(dataSource);

    const expected = catalogueSeeds.scopes.map((seed) => ({ ...seed, required: false }));
    expect(await scopes()).toEqual(sortById(expected));
    expect(await endpoints()).toEqual(catalogueSeeds.apiEndpoints);
  });

  it('changes nothing when it is done again', async () => {
    await seedCatalogue(dataSource);
    const before = [await scopes(), await endpoints()];
    await seedCatalogue(dataSource);

    expect([await scopes(), await endpoints()]).toEqual(before);
  });

  it('leaves deleted what users have deleted, and changed what they have changed', async () => {
    await seedCatalogue(dataSource);
    await dataSource.query('DELETE FROM api_endpoints WHERE id = $1', [firstEndpoint.id]);
    await dataSource.query(`UPDATE api_endpoints SET description = 'mine', scope = NULL WHERE id = $1`, [
      secondEndpoint.id,
    ]);
    await dataSource.query(`UPDATE scopes SET scope = 'mine:too', required = true WHERE id = $1`, [
      firstScope.id,
    ]);
    const before = [await scopes(), await endpoints()];
    await seedCatalogue(dataSource);

    expect([await scopes(), await endpoints()]).toEqual(before);
    expect(await endpoints()).toHaveLength(catalogueSeeds.apiEndpoints.length - 1);
  });

  it('adds with a new version what is new in it, after what is there, and nothing else', async () => {
    await seedCatalogue(dataSource, smallVersion);
    await dataSource.query('DELETE FROM api_endpoints');
    await dataSource.query('DELETE FROM scopes');
    await seedCatalogue(dataSource);

    expect(await scopes()).toHaveLength(catalogueSeeds.scopes.length - 1);
    expect(await endpoints()).toEqual(
      catalogueSeeds.apiEndpoints
        .slice(1)
        .map((seed) => ({ ...seed, scope: seed.scope === firstScope.id ? null : seed.scope })),
    );
  });

  it('adds a new endpoint without its scope when users have deleted that', async () => {
    await seedCatalogue(dataSource, { scopes: smallVersion.scopes, apiEndpoints: [] });
    await dataSource.query('DELETE FROM scopes');
    await seedCatalogue(dataSource, smallVersion);

    expect(await endpoints()).toEqual([{ ...firstEndpoint, scope: null }]);
  });

  it('keeps nothing of a list that cannot be added, so that the next start tries again', async () => {
    const broken = [firstEndpoint, { ...secondEndpoint, tokenType: 'XX' as 'OA' }]; // not what the type says: that is the point
    await expect(
      seedCatalogue(dataSource, { scopes: catalogueSeeds.scopes, apiEndpoints: broken }),
    ).rejects.toMatchObject({ constraint: 'api_endpoints_token_type_check' });
    expect(await endpoints()).toEqual([]);
    await seedCatalogue(dataSource);

    expect(await endpoints()).toEqual(catalogueSeeds.apiEndpoints);
  });

  it('adds everything once when several instances start at once, of two versions', async () => {
    const reversed: CatalogueSeeds = {
      scopes: catalogueSeeds.scopes.toReversed(),
      apiEndpoints: catalogueSeeds.apiEndpoints.toReversed(),
    };
    const starts = [catalogueSeeds, reversed, catalogueSeeds, reversed, catalogueSeeds];
    await Promise.all(starts.map((seeds) => seedCatalogue(dataSource, seeds)));

    expect(await scopes()).toHaveLength(catalogueSeeds.scopes.length);
    expect(sortById(await endpoints())).toEqual(sortById(catalogueSeeds.apiEndpoints));
  });
});
