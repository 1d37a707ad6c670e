import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
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

  it('stores duplicates', async () => {
    const first = await scopes.create({ scope: 'chat:read', required: true });
    const second = await scopes.create({ scope: 'chat:read', required: true });

    expect(first).toEqual({ id: first.id, scope: 'chat:read', required: true });
    expect(second.id).not.toBe(first.id);
    expect(await scopes.get(first.id)).toEqual(first);
    expect(await listAll()).toEqual([first, second].sort((a, b) => (a.id < b.id ? -1 : 1)));
  });

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

  it('changes only the given fields', async () => {
    const { id } = await scopes.create({ scope: 'chat:read', required: false });

    expect(await scopes.update(id, { required: true })).toEqual({ id, scope: 'chat:read', required: true });
    expect(await scopes.update(id, { scope: 'chat:edit' })).toEqual({
      id,
      scope: 'chat:edit',
      required: true,
    });
    expect(await scopes.update(id, {})).toEqual({ id, scope: 'chat:edit', required: true });
    expect(await scopes.get(id)).toEqual({ id, scope: 'chat:edit', required: true });
  });

  it('deletes a scope once', async () => {
    const { id } = await scopes.create({ scope: 'chat:read', required: false });
    await scopes.delete(id);

    expect(await listAll()).toEqual([]);
    await expect(scopes.delete(id)).rejects.toMatchObject({ code: 'not_found' });
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

  it('throws not_found for an unknown id', async () => {
    const id = uuidV7();

    await expect(scopes.get(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.update(id, { required: true })).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.update(id, {})).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });
});
