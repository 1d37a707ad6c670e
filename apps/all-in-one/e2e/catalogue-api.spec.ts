import { apiEndpoints, scopes } from '@stream-events/platforms';
import { v4 as uuidV4 } from 'uuid';
import { problemType, type Answer, type Problem } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Scope {
  id: string;
  scope: string;
  required: boolean;
}

interface ApiEndpoint {
  id: string;
  description: string;
  endpoint: string;
  method: string;
  reference_url: string;
  token_type: string;
  scope: string | null;
}

const scopesPath = '/api/v1/platform/scopes';
const endpointsPath = '/api/v1/platform/api-endpoints';

const newEndpoint = {
  description: 'Start a raid',
  endpoint: 'raids',
  method: 'POST',
  reference_url: 'https://example.org/reference#raids',
  token_type: 'AP',
  scope: null as string | null,
};

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[57][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('scopes and API endpoints', () => {
  let stack: Stack;
  /** The lists before the tests change them. */
  let fresh: { scopes: Scope[]; endpoints: ApiEndpoint[] };

  beforeAll(async () => {
    stack = await startStack({ events: 0 });
    fresh = { scopes: await listScopes(), endpoints: await listEndpoints() };
  }, startLimitMs);

  afterAll(async () => {
    await stack.stop();
  });

  const listScopes = async (): Promise<Scope[]> => (await stack.request<Scope[]>('GET', scopesPath)).json;
  const listEndpoints = async (): Promise<ApiEndpoint[]> =>
    (await stack.request<ApiEndpoint[]>('GET', endpointsPath)).json;

  async function create<Body>(path: string, body: unknown): Promise<Body> {
    const answer = await stack.request<Body>('POST', path, { body });
    expect(answer.status).toBe(201);
    return answer.json;
  }

  function expectProblem(answer: Answer<unknown>, status: number, fields?: readonly string[]): void {
    const problem = answer.json as Problem; // Safe cast: the content type is JSON.
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toMatch(problemType);
    expect(Object.keys(problem.errors ?? {}).sort()).toEqual([...(fields ?? [])].sort());
  }

  describe('lists', () => {
    it('come from the platform in a new installation, as plain arrays', () => {
      expect(fresh.scopes).toEqual(
        scopes
          .map(({ scope }) => ({ id: expect.stringMatching(uuidPattern) as unknown, scope, required: false }))
          .sort((a, b) => (a.scope < b.scope ? -1 : 1)),
      );
      const scopeById = new Map(fresh.scopes.map(({ id, scope }) => [id, scope]));
      expect(
        fresh.endpoints.map(({ scope, ...rest }) => ({ ...rest, scope: scope && scopeById.get(scope) })),
      ).toEqual(
        apiEndpoints.map(({ description, endpoint, method, reference_url, token_type, scope }) => ({
          id: expect.stringMatching(uuidPattern) as unknown,
          description,
          endpoint,
          method,
          reference_url,
          token_type,
          scope,
        })),
      );
    });

    it('are the same under the branded paths and with a trailing slash', async () => {
      for (const path of ['/api/v1/twitch/scopes', '/api/v1/twitch/scopes/', `${scopesPath}/`])
        expect((await stack.request('GET', path)).json).toEqual(await listScopes());
      for (const path of ['/api/v1/twitch/helix-endpoints', '/api/v1/twitch/helix-endpoints/'])
        expect((await stack.request('GET', path)).json).toEqual(await listEndpoints());
      const created = await create<Scope>('/api/v1/twitch/scopes/', { scope: 'under:another:name' });
      expect((await stack.request('GET', `/api/v1/twitch/scopes/${created.id}/`)).json).toEqual(created);
      expect((await stack.request('DELETE', `${scopesPath}/${created.id}`)).status).toBe(204);
    });

    it('handle HEAD like GET, without the body', async () => {
      const { status, headers, text } = await stack.request('HEAD', scopesPath);

      expect([status, text]).toEqual([200, '']);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    });

    it('list any number of rows with any text', async () => {
      await stack.query(
        `INSERT INTO gateway.api_endpoints (id, description, endpoint, method, reference_url, token_type)
         SELECT gen_random_uuid(), repeat(chr(1), 255), repeat('😀', 255), 'many', repeat('"\\', 120), 'OA'
         FROM generate_series(1, 600)`,
      );
      try {
        const listed = await listEndpoints();
        expect(listed.filter(({ method }) => method === 'many')).toHaveLength(600);
        expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
      } finally {
        await stack.query(`DELETE FROM gateway.api_endpoints WHERE method = 'many'`);
      }
    });

    it('are complete for many simultaneous clients', async () => {
      const answers = await Promise.all(Array.from({ length: 40 }, listEndpoints));

      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(answers[0]?.length).toBeGreaterThanOrEqual(149);
    });
  });

  describe('scopes', () => {
    it('are created, read, replaced, changed, and deleted', async () => {
      const answer = await stack.request<Scope>('POST', scopesPath, {
        body: { scope: ' one:two:three ', id: 'mine', unknown: 1 },
      });
      const { id } = answer.json;
      const path = `${scopesPath}/${id}`;

      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe(path);
      expect(answer.json).toEqual({ id, scope: 'one:two:three', required: false });
      expect((await stack.request('GET', `${scopesPath}/${id.toUpperCase()}`)).json).toEqual(answer.json);
      const put = await stack.request('PUT', path, { body: { scope: 'other', required: true } });
      expect([put.status, put.json]).toEqual([200, { id, scope: 'other', required: true }]);
      const patched = await stack.request('PATCH', path, { body: { scope: 'third' } });
      expect([patched.status, patched.json]).toEqual([200, { id, scope: 'third', required: true }]);
      expect((await stack.request('PATCH', path, { body: {} })).json).toEqual(patched.json);
      expect((await stack.request('PUT', path, { body: { scope: 'fourth' } })).json).toEqual({
        id,
        scope: 'fourth',
        required: false,
      });
      const deleted = await stack.request('DELETE', path);
      expect([deleted.status, deleted.text]).toEqual([204, '']);
      for (const [method, body] of [['GET'], ['DELETE'], ['PUT', { scope: 'a' }], ['PATCH', {}]] as const)
        expectProblem(await stack.request(method, path, { ...(body && { body }) }), 404);
    });

    it('are rejected with all errors in one response', async () => {
      expectProblem(await stack.request('POST', scopesPath, { body: { required: 1 } }), 400, [
        'scope',
        'required',
      ]);
      expectProblem(await stack.request('POST', scopesPath, { body: { scope: 7 } }), 400, ['scope']);
      expectProblem(await stack.request('POST', scopesPath, { body: '{"scope":"a\\u0000"}' }), 400, [
        'scope',
      ]);
      expectProblem(await stack.request('POST', scopesPath, { body: '[' }), 400);
      expectProblem(await stack.request('POST', scopesPath), 400);
      const text = { body: '{}', headers: { 'content-type': 'text/plain' } };
      expectProblem(await stack.request('POST', scopesPath, text), 415);
    });

    it('cannot be deleted while an API endpoint names them', async () => {
      const scope = await create<Scope>(scopesPath, { scope: 'in:use' });
      const endpoint = await create<ApiEndpoint>(endpointsPath, { ...newEndpoint, scope: scope.id });

      expectProblem(await stack.request('DELETE', `${scopesPath}/${scope.id}`), 409);
      await stack.request('PATCH', `${endpointsPath}/${endpoint.id}`, { body: { scope: null } });
      expect((await stack.request('DELETE', `${scopesPath}/${scope.id}`)).status).toBe(204);
    });
  });

  describe('API endpoints', () => {
    it('are created, read, replaced, changed, and deleted', async () => {
      const [firstScope] = await listScopes();
      const scope = firstScope?.id ?? '';
      const answer = await stack.request<ApiEndpoint>('POST', endpointsPath, {
        body: { ...newEndpoint, method: ' POST ', scope: scope.toUpperCase(), id: 'mine' },
      });
      const { id } = answer.json;
      const path = `${endpointsPath}/${id}`;

      expect(answer.status).toBe(201);
      expect(answer.headers.get('location')).toBe(path);
      expect(answer.json).toEqual({ ...newEndpoint, id, scope });
      expect((await stack.request('GET', path)).json).toEqual(answer.json);
      expect((await listEndpoints()).at(-1)).toEqual(answer.json);
      const patched = await stack.request('PATCH', path, { body: { token_type: 'OA', reference_url: 'x' } });
      expect([patched.status, patched.json]).toEqual([
        200,
        { ...newEndpoint, id, scope, token_type: 'OA', reference_url: 'x' },
      ]);
      const { scope: _, ...withoutScope } = newEndpoint;
      const put = await stack.request('PUT', path, { body: withoutScope });
      expect([put.status, put.json]).toEqual([200, { ...newEndpoint, id }]);
      expect((await stack.request('DELETE', path)).status).toBe(204);
      expectProblem(await stack.request('GET', path), 404);
    });

    it('are rejected with all errors in one response', async () => {
      const fields = Object.keys(newEndpoint);

      expectProblem(await stack.request('POST', endpointsPath, { body: { scope: 1 } }), 400, fields);
      const faulty = {
        ...newEndpoint,
        description: 'a'.repeat(256),
        method: 'a'.repeat(17),
        token_type: 'XX',
      };
      expectProblem(await stack.request('POST', endpointsPath, { body: faulty }), 400, [
        'description',
        'method',
        'token_type',
      ]);
    });

    it.each(['POST', 'PUT', 'PATCH'])('are rejected for a path with dot segments: %s', async (method) => {
      const { id } = await create<ApiEndpoint>(endpointsPath, newEndpoint);
      const path = method === 'POST' ? endpointsPath : `${endpointsPath}/${id}`;

      for (const endpoint of ['../tokens', 'polls/.', '..', '%2E%2e/tokens', 'polls\\..\\x', './polls'])
        expectProblem(await stack.request(method, path, { body: { ...newEndpoint, endpoint } }), 400, [
          'endpoint',
        ]);
      const { status } = await stack.request(method, path, {
        body: { ...newEndpoint, endpoint: 'v1..2/.x' },
      });
      expect(status).toBe(method === 'POST' ? 201 : 200);
    });

    it.each(['POST', 'PUT', 'PATCH'])('are rejected for a scope that does not exist: %s', async (method) => {
      const { id } = await create<ApiEndpoint>(endpointsPath, newEndpoint);
      const path = method === 'POST' ? endpointsPath : `${endpointsPath}/${id}`;

      for (const scope of [uuidV4(), 'channel:read:ads', 1])
        expectProblem(await stack.request(method, path, { body: { ...newEndpoint, scope } }), 400, ['scope']);
      expect((await stack.request('GET', `${endpointsPath}/${id}`)).json).toEqual({ ...newEndpoint, id });
    });
  });

  describe('routes', () => {
    it.each([scopesPath, endpointsPath])(
      '%s requires a token, and rejects wrong methods and unknown ids',
      async (path) => {
        const denied = await stack.request('GET', path, { token: null });
        expectProblem(denied, 401);
        expect(denied.headers.get('www-authenticate')).toBe('Token');
        const wrong = await stack.request('PUT', path, { body: {} });
        expectProblem(wrong, 405);
        expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
        // By default, Fastify rejects QUERY without a content type. The service must answer 405 first.
        expectProblem(await stack.request('QUERY', path), 405);
        const wrongOfOne = await stack.request('POST', `${path}/${uuidV4()}`, { body: {} });
        expectProblem(wrongOfOne, 405);
        expect(wrongOfOne.headers.get('allow')).toBe('DELETE, GET, HEAD, PATCH, PUT');
        for (const id of [uuidV4(), 'x', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '%00'])
          expectProblem(await stack.request('GET', `${path}/${id}`), 404);
      },
    );
  });

  describe('restarts', () => {
    it('keep ids, changes, and deletions', async () => {
      const [deleted, changed] = await listEndpoints();
      await stack.request('DELETE', `${endpointsPath}/${deleted?.id}`);
      await stack.request('PATCH', `${endpointsPath}/${changed?.id}`, { body: { description: 'mine' } });
      const before = [await listScopes(), await listEndpoints()];
      await Promise.all(stack.gateways.map((gateway) => gateway.restart()));

      expect([await listScopes(), await listEndpoints()]).toEqual(before);
      expect(before[1]?.[0]).toMatchObject({ id: changed?.id, description: 'mine' });
    });
  });

  it('need no other service, while routes that need one respond with 503 and Retry-After immediately', async () => {
    expect((await stack.request('GET', scopesPath)).status).toBe(200);
    expect((await stack.request('GET', endpointsPath)).status).toBe(200);
    for (const path of ['/api/v1/platform/status', '/api/v1/streamers']) {
      const answer = await stack.request('GET', path);
      expectProblem(answer, 503);
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
      // No instance is running, so the gateway answers immediately instead of waiting for a reply.
      expect(answer.json.detail).toMatch(/^A service that this request needs is unavailable/);
    }
  });
});
