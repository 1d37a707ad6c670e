import {
  listApiEndpoints,
  ServiceError,
  type ListApiEndpointsReply,
  type ApiEndpointMessage,
  type CreateApiEndpointRequest,
} from '@stream-events/contracts';
import { parseMessage } from '@stream-events/messaging';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { ApiEndpointsService } from './api-endpoints.service.js';
import { ScopesService } from './scopes.service.js';

// A NATS message, and what Nest puts around a reply.
const maxReplyBytes = 1024 * 1024 - 200;

const body: CreateApiEndpointRequest = {
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
    dataSource = await connectConnector(database, 5);
    endpoints = new ApiEndpointsService(dataSource);
    scopeId = (await new ScopesService(dataSource).create({ scope: 'raids', required: false })).id;
  });

  afterEach(() => dataSource.query('DELETE FROM api_endpoints'));

  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  async function listAll(): Promise<ApiEndpointMessage[]> {
    const all: ApiEndpointMessage[] = [];
    let after: string | null = null;
    do {
      const page: ListApiEndpointsReply = parseMessage(
        listApiEndpoints.reply,
        await endpoints.list(after === null ? {} : { after }),
      );
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(maxReplyBytes);
      all.push(...page.apiEndpoints);
      after = page.next;
    } while (after !== null);
    return all;
  }

  it('keeps what is created, duplicates too, and lists it in the order of creation', async () => {
    const created: ApiEndpointMessage[] = [];
    for (const scope of [null, scopeId, null]) created.push(await endpoints.create({ ...body, scope }));
    const [first] = created;

    expect(first).toEqual({ ...body, id: first?.id });
    expect(await endpoints.get(first?.id ?? '')).toEqual(first);
    expect(await listAll()).toEqual(created);
  });

  it('keeps the order when one is changed', async () => {
    const first = await endpoints.create(body);
    const second = await endpoints.create(body);
    const changed = await endpoints.update({ id: first.id, method: 'PUT' });

    expect(await listAll()).toEqual([changed, second]);
  });

  it('lists each of many once, of any text, in pages that fit in a message', async () => {
    // As they are longest in JSON.
    await dataSource.query(
      `INSERT INTO api_endpoints (id, description, endpoint, method, reference_url, token_type)
       SELECT gen_random_uuid(), repeat(chr(1), 255), repeat(chr(1), 255), repeat(chr(1), 16), repeat(chr(1), 255), 'OA'
       FROM generate_series(1, 601) AS n`,
    );
    const listed = await listAll();

    expect(listed).toHaveLength(601);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(601);
  });

  it('changes only what is given; null takes the scope away', async () => {
    const { id } = await endpoints.create({ ...body, scope: scopeId });

    expect(await endpoints.update({ id, description: 'Raid' })).toEqual({
      ...body,
      id,
      description: 'Raid',
      scope: scopeId,
    });
    expect(await endpoints.update({ id, scope: null, tokenType: 'OA' })).toEqual({
      ...body,
      id,
      description: 'Raid',
      tokenType: 'OA',
      scope: null,
    });
    expect(await endpoints.update({ id })).toMatchObject({ id, tokenType: 'OA' });
  });

  it('refuses a scope that there is not, and stores nothing', async () => {
    const { id } = await endpoints.create(body);

    await expect(endpoints.create({ ...body, scope: uuidV7() })).rejects.toMatchObject(unknownScope);
    await expect(endpoints.update({ id, method: 'PUT', scope: uuidV7() })).rejects.toMatchObject(
      unknownScope,
    );
    expect(await listAll()).toEqual([{ ...body, id }]);
  });

  it('deletes one, once', async () => {
    const { id } = await endpoints.create(body);
    await endpoints.delete(id);

    expect(await listAll()).toEqual([]);
    await expect(endpoints.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('knows no id that is not in the list', async () => {
    const id = uuidV7();

    await expect(endpoints.get(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(endpoints.update({ id, method: 'PUT' })).rejects.toMatchObject({ code: 'not_found' });
    await expect(endpoints.update({ id, scope: uuidV7() })).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each(['', '-1', 'x', '1'.repeat(30)])('refuses %j as the place where a page begins', async (after) => {
    await expect(endpoints.list({ after })).rejects.toThrow(ServiceError);
  });
});
