import { listScopes, ServiceError, type ListScopesReply, type ScopeMessage } from '@stream-events/contracts';
import { parseMessage } from '@stream-events/messaging';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { v7 as uuidV7 } from 'uuid';
import { connectConnector } from '../../test/connect-connector.js';
import { ApiEndpointsService } from './api-endpoints.service.js';
import { ScopesService } from './scopes.service.js';

// A NATS message, and what Nest puts around a reply.
const maxReplyBytes = 1024 * 1024 - 200;

describe(ScopesService.name, () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let scopes: ScopesService;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await connectConnector(database, 5);
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

  async function listAll(): Promise<ScopeMessage[]> {
    const all: ScopeMessage[] = [];
    let after: string | null = null;
    do {
      const page: ListScopesReply = parseMessage(
        listScopes.reply,
        await scopes.list(after === null ? {} : { after }),
      );
      expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(maxReplyBytes);
      all.push(...page.scopes);
      after = page.next;
    } while (after !== null);
    return all;
  }

  it('keeps what is created, duplicates too', async () => {
    const first = await scopes.create({ scope: 'chat:read', required: true });
    const second = await scopes.create({ scope: 'chat:read', required: true });

    expect(first).toEqual({ id: first.id, scope: 'chat:read', required: true });
    expect(second.id).not.toBe(first.id);
    expect(await scopes.get(first.id)).toEqual(first);
    expect(await listAll()).toEqual([first, second].sort((a, b) => (a.id < b.id ? -1 : 1)));
  });

  it('lists by scope, by code point, then by id', async () => {
    for (const scope of ['b', 'a:b', 'a', 'B', 'é', 'a_b', '😀', 'ｚ', 'a'])
      await scopes.create({ scope, required: false });

    const listed = await listAll();
    expect(listed.map(({ scope }) => scope)).toEqual(['B', 'a', 'a', 'a:b', 'a_b', 'b', 'é', 'ｚ', '😀']);
    expect(listed.map(({ id }) => id)[1]).toBe(listed.map(({ id }) => id).sort()[2]);
  });

  it('lists each of many once, of any text, in pages that fit in a message', async () => {
    // Also as they are longest in JSON, and many of one name.
    await dataSource.query(
      `INSERT INTO scopes SELECT gen_random_uuid(), CASE WHEN n % 2 = 0 THEN repeat(chr(1), 255) ELSE n::text || '"\\' END, false
       FROM generate_series(1, 1501) AS n`,
    );
    const listed = await listAll();

    expect(listed).toHaveLength(1501);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(1501);
  });

  it('changes only what is given', async () => {
    const { id } = await scopes.create({ scope: 'chat:read', required: false });

    expect(await scopes.update({ id, required: true })).toEqual({ id, scope: 'chat:read', required: true });
    expect(await scopes.update({ id, scope: 'chat:edit' })).toEqual({
      id,
      scope: 'chat:edit',
      required: true,
    });
    expect(await scopes.update({ id })).toEqual({ id, scope: 'chat:edit', required: true });
    expect(await scopes.get(id)).toEqual({ id, scope: 'chat:edit', required: true });
  });

  it('deletes one, once', async () => {
    const { id } = await scopes.create({ scope: 'chat:read', required: false });
    await scopes.delete(id);

    expect(await listAll()).toEqual([]);
    await expect(scopes.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('deletes none that an API endpoint names, until that is gone', async () => {
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

  it('knows no id that is not in the list', async () => {
    const id = uuidV7();

    await expect(scopes.get(id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.update({ id, required: true })).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.update({ id })).rejects.toMatchObject({ code: 'not_found' });
    await expect(scopes.delete(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it.each(['', 'chat:read', "' OR true"])('refuses %j as the place where a page begins', async (after) => {
    await expect(scopes.list({ after })).rejects.toThrow(ServiceError);
  });
});
