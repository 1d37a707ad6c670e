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

describe('scopes and API endpoints', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({ events: 0 });
  }, startLimitMs);

  afterAll(() => stack.stop());

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
