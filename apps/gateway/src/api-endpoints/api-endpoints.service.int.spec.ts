import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectGateway } from '../../test/connect-gateway.js';
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

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectGateway(database, 5);
    endpoints = new ApiEndpointsService(dataSource);
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

  it('rejects an unknown scope and stores nothing', async () => {
    const { id } = await endpoints.create(fields);

    await expect(endpoints.create({ ...fields, scope: uuidV7() })).rejects.toMatchObject(unknownScope);
    await expect(endpoints.update(id, { method: 'PUT', scope: uuidV7() })).rejects.toMatchObject(
      unknownScope,
    );
    expect(await listAll()).toMatchObject([{ ...fields, id }]);
  });
});
