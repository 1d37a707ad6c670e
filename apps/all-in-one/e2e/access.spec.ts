import { startLimitMs, startStack, type Stack } from './stack.js';

type Access = 'public' | 'registration' | 'token' | 'account' | 'owner' | 'caller' | string[];

interface Operation {
  method: string;
  path: string;
  access: Access;
}

interface Client {
  name: string;
  token: string | null;
  may: (access: Access) => boolean;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];
const unknownId = '01999999-9999-7999-8999-999999999999';

const isLast = ({ path }: Operation): boolean => path === '/api/v1/sessions/current';

describe('every route, for every kind of client', () => {
  let stack: Stack;
  let operations: Operation[];
  let clients: Client[];

  beforeAll(async () => {
    stack = await startStack({ gateways: 1 });
    const { json } = await stack.request<{
      paths: Record<string, Record<string, { 'x-access': Access }>>;
    }>('GET', '/api/openapi.json');
    operations = Object.entries(json.paths).flatMap(([path, byMethod]) =>
      methods.flatMap((method) => {
        const operation = byMethod[method];
        return operation ? [{ method: method.toUpperCase(), path, access: operation['x-access'] }] : [];
      }),
    );
    // Log out last: every other operation needs the session.
    operations.sort((one, other) => Number(isLast(one)) - Number(isLast(other)));
    clients = await makeClients();
  }, startLimitMs);

  afterAll(() => stack.stop());

  async function makeClients(): Promise<Client[]> {
    const member = await stack.registerUser();
    const { username, password } = member;
    const session = await stack.request<{ key: string }>('POST', '/api/v1/sessions', {
      token: null,
      body: { username, password },
    });
    const isForUsers = (access: Access): boolean =>
      access !== 'owner' && access !== 'registration' && access !== 'caller';
    const scopes = [...new Set(operations.flatMap(({ access }) => (Array.isArray(access) ? access : [])))];
    const named = await Promise.all(
      scopes.map(async (scope): Promise<Client> => {
        const body = { name: scope, scopes: [scope] };
        const { json } = await stack.request<{ key: string }>('POST', '/api/v1/tokens', { body });
        return {
          name: `a token with ${scope}`,
          token: json.key,
          may: (access) =>
            access === 'public' ||
            access === 'token' ||
            (access === 'caller' && scope === 'platform:call') ||
            (Array.isArray(access) && access.every((each) => each === scope)),
        };
      }),
    );
    return [
      { name: 'nobody', token: null, may: (access) => access === 'public' },
      { name: 'a wrong token', token: '0'.repeat(40), may: (access) => access === 'public' },
      { name: 'a member', token: member.token, may: isForUsers },
      { name: 'a session of a member', token: session.json.key, may: isForUsers },
      { name: 'an owner', token: stack.ownerToken, may: () => true },
      ...named,
    ];
  }

  /** The request uses ids that match no record and an empty body. If allowed, the request succeeds or fails with another status. */
  async function isAllowed({ method, path }: Operation, token: string | null): Promise<boolean> {
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'event_type' ? 'raid' : unknownId));
    // Request only the head: the response of an event stream never ends.
    const { status } = await stack.request(method === 'GET' ? 'HEAD' : method, url, {
      token,
      ...(method !== 'GET' && method !== 'DELETE' && { body: {} }),
    });
    return status !== 401 && status !== 403;
  }

  it('is allowed or refused as docs/access.md says', async () => {
    expect(operations.length).toBeGreaterThan(50);
    const wrong: string[] = [];
    for (const operation of operations) {
      // The webhook answers 403 to an unsigned message, so its status does not show whether the client has access.
      if (operation.path.includes('/webhook')) continue;
      const outcomes = await Promise.all(clients.map(({ token }) => isAllowed(operation, token)));
      for (const [index, client] of clients.entries())
        if (outcomes[index] !== client.may(operation.access))
          wrong.push(`${operation.method} ${operation.path} by ${client.name}: ${outcomes[index]}`);
    }
    expect(wrong).toEqual([]);
  }, 600_000); // more than 1,000 requests

  it('forbids caches to store any reply except the API descriptions', async () => {
    const kept: string[] = [];
    const note = async (method: string, path: string, token: string | null): Promise<void> => {
      const { headers } = await stack.request(method, path, { token });
      if (headers.get('cache-control') !== 'no-store') kept.push(path);
    };
    for (const { method, path } of operations)
      if (method === 'GET') await note('HEAD', path.replaceAll(/\{\w+\}/g, unknownId), stack.ownerToken);
    for (const path of ['/api/v1/unknown', '/api/openapi.json', '/api/asyncapi.json'])
      await note('GET', path, null);
    await note('POST', '/api/v1/platform-events/webhook', null);

    expect(kept).toEqual(['/api/openapi.json', '/api/asyncapi.json']);
  }, 600_000);
});
