import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectGateway } from '../../test/connect-gateway.js';
import { ApiEndpointsService } from '../api-endpoints/api-endpoints.service.js';
import type { Scope } from './scope.entity.js';
import { ScopesService } from './scopes.service.js';

const maxPageBytes = 1024 * 1024;

describe(ScopesService.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let scopes: ScopesService;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
    scopes = new ScopesService(dataSource);
  });

  afterEach(async () => {
    await dataSource.query('DELETE FROM api_endpoints');
    await dataSource.query('DELETE FROM scopes');
  });

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function listAll(): Promise<Scope[]> {
    const all: Scope[] = [];
    let after: Scope | undefined;
    do {
      const page = await scopes.list(after);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(maxPageBytes);
      all.push(...page.scopes);
      after = page.next ?? undefined;
    } while (after);
    return all;
  }

  it('refuses more than 10,000 scopes and API endpoints, so that the lists stay readable', async () => {
    await dataSource.query(
      `INSERT INTO scopes (id, scope, required) SELECT gen_random_uuid(), 'a', false FROM generate_series(1, 9999)`,
    );
    await dataSource.query(
      `INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type)
       SELECT gen_random_uuid(), '', '/a', 'GET', '', 'AP' FROM generate_series(1, 10000)`,
    );
    await scopes.create({ scope: 'the last one', required: false });

    await expect(scopes.create({ scope: 'another one', required: false })).rejects.toMatchObject({
      code: 'conflict',
      detail: 'There are already 10,000 scopes, which is the maximum. Delete unused ones.',
    });
    await expect(
      new ApiEndpointsService(dataSource).create({
        description: '',
        endpoint: '/b',
        method: 'GET',
        referenceUrl: '',
        tokenType: 'AP',
        scope: null,
      }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  it('sorts by scope (by code point), then by id', async () => {
    for (const scope of ['b', 'a:b', 'a', 'B', 'é', 'a_b', '😀', 'ｚ', 'a'])
      await scopes.create({ scope, required: false });

    const listed = await listAll();
    expect(listed.map(({ scope }) => scope)).toEqual(['B', 'a', 'a', 'a:b', 'a_b', 'b', 'é', 'ｚ', '😀']);
    expect(listed.map(({ id }) => id)[1]).toBe(listed.map(({ id }) => id).sort()[2]);
  });

  it('lists every scope once, whatever its text, in pages under 1 MiB', async () => {
    // Control characters make the longest JSON. Half of the scopes have the same name.
    await dataSource.query(
      `INSERT INTO scopes SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN repeat(chr(1), 255) ELSE n::text || '"\\' END, false
       FROM generate_series(1, 1501) AS n`,
    );
    const listed = await listAll();

    expect(listed).toHaveLength(1501);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(1501);
  });

  it('refuses to delete a scope while an API endpoint uses it', async () => {
    const endpoints = new ApiEndpointsService(dataSource);
    const { id } = await scopes.create({ scope: 'chat:read', required: false });
    const endpoint = await endpoints.create({
      description: 'Read chat',
      endpoint: 'chat',
      method: 'GET',
      referenceUrl: 'https://example.org',
      tokenType: 'OA',
      scope: id,
    });

    await expect(scopes.delete(id)).rejects.toMatchObject({ code: 'conflict' });
    expect(await scopes.get(id)).toMatchObject({ id });
    await endpoints.delete(endpoint.id);
    await scopes.delete(id);
    expect(await listAll()).toEqual([]);
  });
});
