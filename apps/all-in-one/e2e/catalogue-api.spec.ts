import { problemType, type Problem } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface ScopeRecord {
  id: string;
  scope: string;
  required: boolean;
}

interface EndpointRecord {
  id: string;
  description: string;
  endpoint: string;
  method: string;
  reference_url: string;
  token_type: string;
  scope: string | null;
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const unknownId = '01999999-9999-7999-8999-999999999999';
const scopesPath = '/api/v1/platform/scopes';
const endpointsPath = '/api/v1/platform/api-endpoints';

const endpointBody = {
  description: 'Reads something',
  endpoint: 'helix/something',
  method: 'GET',
  reference_url: 'https://example.org/reference#something',
  token_type: 'AP',
  scope: null,
};

describe('catalogue API', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const list = async <Record>(path: string): Promise<Record[]> =>
    (await stack.request<Record[]>('GET', path)).json;

  const errorsOf = async (method: string, path: string, body: unknown): Promise<string[]> => {
    const { status, headers, json } = await stack.request<Problem>(method, path, { body });
    expect(status).toBe(400);
    expect(headers.get('content-type')).toMatch(problemType);
    return Object.keys(json.errors ?? {}).sort();
  };

  describe('scopes', () => {
    it('begin with those of the platform, sorted, with ids that a restart does not change', async () => {
      const before = await list<ScopeRecord>(scopesPath);
      expect(before).toHaveLength(81);
      expect(before.map(({ scope }) => scope)).toEqual(before.map(({ scope }) => scope).sort());
      expect(before[0]).toEqual({
        id: expect.stringMatching(uuid),
        scope: expect.any(String),
        required: false,
      });
      await Promise.all(stack.connectors.map((connector) => connector.restart()));
      expect(await list<ScopeRecord>(scopesPath)).toEqual(before);
    });

    it('are created, read, changed and deleted, also under the branded path and with a trailing slash', async () => {
      const created = await stack.request<ScopeRecord>('POST', '/api/v1/twitch/scopes/', {
        body: { scope: ' moderator:read:test ', required: true, id: unknownId, colour: 'blue' },
      });
      expect(created.status).toBe(201);
      expect(created.json).toEqual({
        id: expect.stringMatching(uuid),
        scope: 'moderator:read:test',
        required: true,
      });
      const path = `${scopesPath}/${created.json.id}`;
      expect(created.headers.get('location')).toBe(path);
      expect(await stack.request('GET', `${path}/`)).toMatchObject({ status: 200, json: created.json });
      const patched = await stack.request<ScopeRecord>('PATCH', path, { body: { required: false } });
      expect(patched).toMatchObject({ status: 200, json: { ...created.json, required: false } });
      const put = await stack.request<ScopeRecord>('PUT', path, { body: { scope: 'a:b:c' } });
      expect(put).toMatchObject({
        status: 200,
        json: { id: created.json.id, scope: 'a:b:c', required: false },
      });
      expect(await stack.request('DELETE', path)).toMatchObject({ status: 204, text: '' });
      expect((await stack.request('GET', path)).status).toBe(404);
    });

    it('may be there twice', async () => {
      const body = { scope: 'twice:read:it' };
      const answers = [
        await stack.request<ScopeRecord>('POST', scopesPath, { body }),
        await stack.request<ScopeRecord>('POST', scopesPath, { body }),
      ];
      expect(answers.map(({ status, json }) => [status, json.required])).toEqual([
        [201, false],
        [201, false],
      ]);
      const twice = (await list<ScopeRecord>(scopesPath)).filter(({ scope }) => scope === body.scope);
      expect(new Set(twice.map(({ id }) => id)).size).toBe(2);
    });

    it('are refused with all faults at once', async () => {
      expect(await errorsOf('POST', scopesPath, {})).toEqual(['scope']);
      expect(await errorsOf('POST', scopesPath, { scope: 1, required: 'yes' })).toEqual([
        'required',
        'scope',
      ]);
      expect(await errorsOf('POST', scopesPath, { scope: 'x'.repeat(256) })).toEqual(['scope']);
      const [first] = await list<ScopeRecord>(scopesPath);
      expect(await errorsOf('PUT', `${scopesPath}/${first?.id}`, { required: true })).toEqual(['scope']);
      expect(await errorsOf('PATCH', `${scopesPath}/${first?.id}`, { scope: null })).toEqual(['scope']);
    });
  });

  describe('API endpoints', () => {
    it('begin with those of the platform, in a fixed order, each with its scope', async () => {
      const endpoints = await list<EndpointRecord>(endpointsPath);
      expect(endpoints).toHaveLength(149);
      const scopes = new Map((await list<ScopeRecord>(scopesPath)).map(({ id, scope }) => [id, scope]));
      const commercial = endpoints.find(({ endpoint }) => endpoint.endsWith('channels/commercial'));
      expect(commercial).toMatchObject({ method: 'POST', token_type: expect.stringMatching(/^(OA|AP)$/) });
      expect(scopes.get(commercial?.scope ?? '')).toBe('channel:edit:commercial');
      expect(endpoints.every(({ scope }) => scope === null || scopes.has(scope))).toBe(true);
      expect(await list<EndpointRecord>('/api/v1/twitch/helix-endpoints')).toEqual(endpoints);
    });

    it('are created at the end of the list, read, changed and deleted', async () => {
      const [scope] = await list<ScopeRecord>(scopesPath);
      const body = { ...endpointBody, scope: scope?.id ?? '' };
      const created = await stack.request<EndpointRecord>('POST', endpointsPath, { body });
      expect(created.status).toBe(201);
      expect(created.json).toEqual({ ...body, id: expect.stringMatching(uuid) });
      expect((await list<EndpointRecord>(endpointsPath)).at(-1)).toEqual(created.json);
      const path = `${endpointsPath}/${created.json.id}`;
      expect(created.headers.get('location')).toBe(path);
      expect(await stack.request('GET', path)).toMatchObject({ status: 200, json: created.json });
      expect(await stack.request('PATCH', path, { body: { scope: null } })).toMatchObject({
        status: 200,
        json: { ...created.json, scope: null },
      });
      const put = await stack.request('PUT', path, { body: { ...endpointBody, method: 'DELETE' } });
      expect(put).toMatchObject({
        status: 200,
        json: { ...endpointBody, id: created.json.id, method: 'DELETE' },
      });
      expect((await stack.request('DELETE', path)).status).toBe(204);
      expect((await stack.request('GET', path)).status).toBe(404);
    });

    it('keep the scope that they need from being deleted', async () => {
      const scope = await stack.request<ScopeRecord>('POST', scopesPath, {
        body: { scope: 'needed:read:it' },
      });
      const body = { ...endpointBody, scope: scope.json.id };
      const endpoint = await stack.request<EndpointRecord>('POST', endpointsPath, { body });
      const path = `${scopesPath}/${scope.json.id}`;
      expect((await stack.request('DELETE', path)).status).toBe(409);
      await stack.request('DELETE', `${endpointsPath}/${endpoint.json.id}`);
      expect((await stack.request('DELETE', path)).status).toBe(204);
    });

    it('are refused with all faults at once, and with a scope that there is not', async () => {
      expect(await errorsOf('POST', endpointsPath, {})).toEqual([
        'description',
        'endpoint',
        'method',
        'reference_url',
        'token_type',
      ]);
      expect(await errorsOf('POST', endpointsPath, { ...endpointBody, scope: unknownId })).toEqual(['scope']);
      expect(
        await errorsOf('POST', endpointsPath, { ...endpointBody, scope: 'x', token_type: 'XX' }),
      ).toEqual(['scope', 'token_type']);
      expect(await errorsOf('POST', endpointsPath, { ...endpointBody, method: 'x'.repeat(17) })).toEqual([
        'method',
      ]);
    });
  });

  it.each([scopesPath, endpointsPath])('%s answers 401, 404 and 405 as everywhere', async (path) => {
    const { status, headers } = await stack.request('GET', path, { token: null });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Token');
    for (const id of [unknownId, 'nonsense']) {
      expect((await stack.request('GET', `${path}/${id}`)).status).toBe(404);
      expect((await stack.request('DELETE', `${path}/${id}`)).status).toBe(404);
    }
    const wrong = await stack.request('DELETE', path);
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  it('keeps what users changed and deleted over a restart', async () => {
    const [first, second] = await list<ScopeRecord>(scopesPath);
    await stack.request('PATCH', `${scopesPath}/${first?.id}`, { body: { required: true } });
    // One that no endpoint needs.
    const unused = (await list<ScopeRecord>(scopesPath)).findLast(
      ({ id }) => id !== first?.id && id !== second?.id,
    );
    const endpoints = await list<EndpointRecord>(endpointsPath);
    const free = (await list<ScopeRecord>(scopesPath)).find(
      ({ id }) => id !== first?.id && !endpoints.some(({ scope }) => scope === id),
    );
    const gone = free ?? unused;
    expect((await stack.request('DELETE', `${scopesPath}/${gone?.id}`)).status).toBe(204);
    await Promise.all(stack.connectors.map((connector) => connector.restart()));
    const after = await list<ScopeRecord>(scopesPath);
    expect(after.find(({ id }) => id === first?.id)?.required).toBe(true);
    expect(after.some(({ scope }) => scope === gone?.scope)).toBe(false);
  });
});
