import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectGateway } from '../../test/connect-gateway.js';
import { ScopesService } from '../scopes/scopes.service.js';
import type { ApiEndpoint } from './api-endpoint.entity.js';
import { ApiEndpointsService, type ApiEndpointFields } from './api-endpoints.service.js';

const maxPageBytes = 1024 * 1024;

const fields: ApiEndpointFields = {
  description: 'Start a raid',
  endpoint: 'raids',
  method: 'POST',
  referenceUrl: 'https://example.org/reference#raids',
  tokenType: 'AP',
  scope: null,
};

const unknownScope = { code: 'invalid', errors: { scope: [expect.any(String)] } };

describe(ApiEndpointsService.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let endpoints: ApiEndpointsService;
  let scopeId: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
    endpoints = new ApiEndpointsService(dataSource);
    scopeId = (await new ScopesService(dataSource).create({ scope: 'raids', required: false })).id;
  });

  afterEach(() => dataSource.query('DELETE FROM api_endpoints'));

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function listAll(): Promise<ApiEndpoint[]> {
    const all: ApiEndpoint[] = [];
    let after: string | undefined;
    do {
      const page = await endpoints.list(after);
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(maxPageBytes);
      all.push(...page.apiEndpoints);
      after = page.next ?? undefined;
    } while (after !== undefined);
    return all;
  }

  it('stores duplicates and lists them in the order of creation', async () => {
    const created: ApiEndpoint[] = [];
    for (const scope of [null, scopeId, null]) created.push(await endpoints.create({ ...fields, scope }));
    const [first] = created;

    expect(first).toMatchObject(fields);
    expect(await endpoints.get(first?.id ?? '')).toEqual(first);
    expect(await listAll()).toEqual(created);
  });

  it('keeps the order when an endpoint changes', async () => {
    const first = await endpoints.create(fields);
    const second = await endpoints.create(fields);
    const changed = await endpoints.update(first.id, { method: 'PUT' });

    expect(await listAll()).toEqual([changed, second]);
  });

  it('lists every endpoint once, whatever its text, in pages under 1 MiB', async () => {
    // Control characters make the longest JSON.
    await dataSource.query(
      `INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type)
       SELECT gen_random_uuid(), repeat(chr(1), 255), repeat(chr(1), 255), repeat(chr(1), 16), repeat(chr(1), 255), 'OA'
       FROM generate_series(1, 601) AS n`,
    );
    const listed = await listAll();

    expect(listed).toHaveLength(601);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(601);
  });

  it('changes only the given fields; null removes the scope', async () => {
    const { id } = await endpoints.create({ ...fields, scope: scopeId });

    expect(await endpoints.update(id, { description: 'Raid' })).toMatchObject({
      ...fields,
      id,
      description: 'Raid',
      scope: scopeId,
    });
    expect(await endpoints.update(id, { scope: null, tokenType: 'OA' })).toMatchObject({
      ...fields,
      id,
      description: 'Raid',
      tokenType: 'OA',
      scope: null,
    });
    expect(await endpoints.update(id, {})).toMatchObject({ id, tokenType: 'OA' });
  });

  it('rejects an unknown scope and stores nothing', async () => {
    const { id } = await endpoints.create(fields);

    await expect(endpoints.create({ ...fields, scope: uuidV7() })).rejects.toMatchObject(unknownScope);
    await expect(endpoints.update(id, { method: 'PUT', scope: uuidV7() })).rejects.toMatchObject(
      unknownScope,
    );
    expect(await listAll()).toMatchObject([{ ...fields, id }]);
  });

  it('deletes an endpoint once', async () => {
    const { id } = await endpoints.create(fields);
    await endpoints.delete(id);

    expect(await listAll()).toEqual([]);
    await expect(endpoints.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws not_found for an unknown id', async () => {
    const id = uuidV7();

    await expect(endpoints.get(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(endpoints.update(id, { method: 'PUT' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(endpoints.update(id, { scope: uuidV7() })).rejects.toMatchObject({ code: 'not_found' });
  });
});
