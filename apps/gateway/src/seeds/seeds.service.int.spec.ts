import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { platformSeeds, type PlatformSeeds } from './platform-seeds.js';
import { Seeds } from './seeds.service.js';

const [firstScope, secondScope] = platformSeeds.scopes;
const [firstEndpoint, secondEndpoint] = platformSeeds.apiEndpoints;
if (!firstScope || !secondScope || !firstEndpoint || !secondEndpoint) throw new Error('there are no seeds');

/** An earlier version with few seeds. */
const smallVersion: PlatformSeeds = {
  scopes: [firstScope],
  apiEndpoints: [{ ...firstEndpoint, scope: firstScope.id }],
};

describe(Seeds.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  // Give each test a new installation.
  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
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

  it('adds all seeds to a new installation, with the endpoints in order', async () => {
    await new Seeds(dataSource).apply();

    const expected = platformSeeds.scopes.map((seed) => ({ ...seed, required: false }));
    expect(await scopes()).toEqual(sortById(expected));
    expect(await endpoints()).toEqual(platformSeeds.apiEndpoints);
  });

  it('changes nothing when applied again', async () => {
    await new Seeds(dataSource).apply();
    const before = [await scopes(), await endpoints()];
    await new Seeds(dataSource).apply();

    expect([await scopes(), await endpoints()]).toEqual(before);
  });

  it('keeps deletions and changes of users', async () => {
    await new Seeds(dataSource).apply();
    await dataSource.query('DELETE FROM api_endpoints WHERE id = $1', [firstEndpoint.id]);
    await dataSource.query(`UPDATE api_endpoints SET description = 'mine', scope = NULL WHERE id = $1`, [
      secondEndpoint.id,
    ]);
    await dataSource.query(`UPDATE scopes SET scope = 'mine:too', required = true WHERE id = $1`, [
      firstScope.id,
    ]);
    const before = [await scopes(), await endpoints()];
    await new Seeds(dataSource).apply();

    expect([await scopes(), await endpoints()]).toEqual(before);
    expect(await endpoints()).toHaveLength(platformSeeds.apiEndpoints.length - 1);
  });

  it('adds only the new seeds of a new version, after the existing rows', async () => {
    await new Seeds(dataSource).apply(smallVersion);
    await dataSource.query('DELETE FROM api_endpoints');
    await dataSource.query('DELETE FROM scopes');
    await new Seeds(dataSource).apply();

    expect(await scopes()).toHaveLength(platformSeeds.scopes.length - 1);
    expect(await endpoints()).toEqual(
      platformSeeds.apiEndpoints
        .slice(1)
        .map((seed) => ({ ...seed, scope: seed.scope === firstScope.id ? null : seed.scope })),
    );
  });

  it('adds a new endpoint without its scope if users deleted the scope', async () => {
    await new Seeds(dataSource).apply({ scopes: smallVersion.scopes, apiEndpoints: [] });
    await dataSource.query('DELETE FROM scopes');
    await new Seeds(dataSource).apply(smallVersion);

    expect(await endpoints()).toEqual([{ ...firstEndpoint, scope: null }]);
  });

  it('adds nothing of a list that fails, so that the next start retries', async () => {
    const broken = [firstEndpoint, { ...secondEndpoint, tokenType: 'XX' as 'OA' }]; // deliberately violates the type
    await expect(
      new Seeds(dataSource).apply({ scopes: platformSeeds.scopes, apiEndpoints: broken }),
    ).rejects.toMatchObject({ constraint: 'api_endpoints_token_type_check' });
    expect(await endpoints()).toEqual([]);
    await new Seeds(dataSource).apply();

    expect(await endpoints()).toEqual(platformSeeds.apiEndpoints);
  });

  it('adds every seed once when instances of two versions start together', async () => {
    const reversed: PlatformSeeds = {
      scopes: platformSeeds.scopes.toReversed(),
      apiEndpoints: platformSeeds.apiEndpoints.toReversed(),
    };
    const starts = [platformSeeds, reversed, platformSeeds, reversed, platformSeeds];
    await Promise.all(starts.map((seeds) => new Seeds(dataSource).apply(seeds)));

    expect(await scopes()).toHaveLength(platformSeeds.scopes.length);
    expect(sortById(await endpoints())).toEqual(sortById(platformSeeds.apiEndpoints));
  });
});
