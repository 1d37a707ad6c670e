import { randomBytes } from 'node:crypto';
import type { TestService } from '@stream-events/testing';
import { uniqueType, type Answer, type Problem } from './api.js';
import { owner } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const loginPath = '/api-token-auth/';
const password = ' correct horse battery staple ';

describe('api-token-auth', () => {
  let stack: Stack;
  let choosy: TestService;
  let known: { username: string; auth_token: string };

  beforeAll(async () => {
    // Trusting proxies lets tests choose the client's address.
    stack = await startStack({ environment: { TRUST_PROXY: 'true' } });
    choosy = await stack.startGateway({
      TRUST_PROXY: 'true',
      CORS_ORIGINS: '*,https://panel.example',
      PUBLIC_URL: 'https://events.example.org',
    });
    known = await register();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const register = async (): Promise<{ username: string; auth_token: string }> => {
    const body = { username: uniqueType('User'), password };
    return (await stack.request<{ username: string; auth_token: string }>('POST', '/users', { body })).json;
  };

  const logIn = (
    body: unknown,
    { address = '192.0.2.1', gateway = stack.url, path = loginPath } = {},
  ): Promise<Answer<Problem & { token: string }>> =>
    stack.request('POST', path, { token: null, body, gateway, headers: { 'x-forwarded-for': address } });

  it('returns the first owner’s token, even if another gateway created it', async () => {
    for (const gateway of stack.urls)
      expect((await logIn(owner, { gateway })).json.token).toBe(stack.ownerToken);
    expect(await stack.query(`SELECT 1 FROM gateway.users WHERE role = 'owner'`)).toHaveLength(1);
  });

  it.each([
    ['a wrong password', { password: 'wrong' }],
    ['the trimmed password', { password: password.trim() }],
    ['an unknown user', { username: 'nobody' }],
    ['a user name that cannot exist', { username: "'; DROP TABLE users" }],
  ])('rejects %s with the same 400 response', async (what, fields) => {
    const { username } = known;
    const answer = await logIn({ username, password, ...fields }, { address: `192.0.2.${what.length}` });
    expect(answer.status).toBe(400);
    expect(answer.headers.get('www-authenticate')).toBeNull();
    expect(answer.json).toEqual({
      type: 'about:blank',
      title: 'Bad Request',
      status: 400,
      detail: 'Unable to log in with provided credentials.',
    });
  });

  describe('with a form', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const post = (body: string | Uint8Array, headers: Record<string, string> = form, path = loginPath) =>
      stack.request<Problem & { token: string }>('POST', path, {
        token: path === loginPath ? null : stack.ownerToken,
        body,
        headers: { 'x-forwarded-for': '192.0.2.77', ...headers },
      });

    it('returns the same token, with or without a charset', async () => {
      const body = new URLSearchParams({ username: known.username, password }).toString();
      for (const type of [form['content-type'], 'Application/X-WWW-Form-Urlencoded; charset=UTF-8'])
        expect(await post(body, { 'content-type': type })).toMatchObject({
          status: 200,
          json: { token: known.auth_token },
        });
    });

    it.each([
      ['nothing', '', ['password', 'username']],
      ['a long name', `username=${'a'.repeat(1_001)}&password=b`, ['username']],
      ['bytes that are not UTF-8', Buffer.from('username=a&password=\xff', 'latin1'), []],
      ['JSON', JSON.stringify({ username: 'a', password: 'b' }), ['password', 'username']],
    ])('rejects %s with 400', async (_, body, fields) => {
      const { status, json } = await post(body);

      expect({ status, fields: Object.keys(json.errors ?? {}).sort() }).toEqual({ status: 400, fields });
    });

    it('is rejected by every other path with 415', async () => {
      for (const path of ['/api/v1/users', '/api/v1/platform/scopes', '/api/v1/platform-events'])
        expect(await post('username=a', form, path)).toMatchObject({
          status: 415,
          json: { status: 415, detail: expect.stringContaining('application/json') },
        });
      expect((await post('a=b', form, '/nowhere')).status).toBe(404);
      expect((await post('a=b', form, '/api/v1/heartbeat')).status).toBe(405);
    });
  });

  describe('from a web page', () => {
    const address = '203.0.113.5';
    const bodies = [
      ['JSON', 'application/json', (fields: object) => JSON.stringify(fields)],
      [
        'a form',
        'application/x-www-form-urlencoded',
        (fields: Record<string, string>) => new URLSearchParams(fields).toString(),
      ],
    ] as const;
    const send = (
      headers: Record<string, string>,
      { path = loginPath, gateway = stack.url, form = false } = {},
    ) => {
      const [, type, print] = bodies[form ? 1 : 0];
      return stack.request<Problem>('POST', path, {
        token: null,
        gateway,
        body: print({ username: known.username, password }),
        headers: { 'x-forwarded-for': address, 'content-type': type, ...headers },
      });
    };

    it.each<[path: string, form: boolean]>([
      ['/api-token-auth', false],
      ['/api-token-auth/', true],
      ['/api/v1/sessions', false],
      ['/api/v1/sessions/', false],
    ])('of another site, rejects %s (form: %s) with 403 and counts nothing', async (path, form) => {
      for (const headers of [
        { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' },
        { 'sec-fetch-site': 'cross-site' },
        { origin: 'https://elsewhere.example' },
        { origin: 'null' },
      ]) {
        const answer = await send(headers, { path, form });
        expect(answer).toMatchObject({
          status: 403,
          json: { detail: expect.stringContaining('CORS_ORIGINS') },
        });
      }
      for (const table of ['login_failures', 'known_logins'])
        expect(await stack.query(`SELECT 1 FROM gateway.${table} WHERE address = $1`, [address])).toEqual([]);
    });

    it('of its own host, of a named origin, or from a program, accepts the login', async () => {
      const own = new URL(stack.url).origin;
      expect((await send({ origin: own })).status).toBe(200);
      expect((await send({ origin: own, 'sec-fetch-site': 'same-origin' }, { form: true })).status).toBe(200);
      expect((await send({ origin: 'https://panel.example' })).status).toBe(403);
      const gateway = choosy.url;
      for (const headers of [
        { origin: 'https://panel.example', 'sec-fetch-site': 'cross-site' },
        { origin: 'https://panel.example' },
        { origin: 'https://events.example.org' },
      ])
        expect((await send(headers, { gateway })).status).toBe(200);
      expect((await send({ origin: 'https://elsewhere.example' }, { gateway })).status).toBe(403);
    });
  });

  it('accepts a client address of any length from a proxy', async () => {
    // The text is random because PostgreSQL would compress repeated text until it fits into the index.
    const address = randomBytes(3_000).toString('hex');
    expect(await logIn({ username: known.username, password }, { address })).toMatchObject({ status: 200 });
  });

  describe('after repeated failures', () => {
    /** Logs in with a wrong password, alternating between the gateways, until the service slows logins down. */
    const failUntilSlowed = async (username: string, address: string): Promise<Answer<Problem>> => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const gateway = stack.urls[attempt % 2] ?? '';
        const answer = await logIn({ username, password: 'wrong' }, { address, gateway });
        if (answer.status !== 400) return answer;
      }
      throw new Error('logins were not slowed after ten failures');
    };

    /** Lengthens the first pause, which lasts one second and could end before a busy machine sends the next request. */
    const lengthenPause = (address: string) =>
      stack.query('UPDATE gateway.login_failures SET failures = 12 WHERE address = $1', [address]);

    it('responds with 429 and Retry-After at every gateway, even to the correct password', async () => {
      const { username } = await register();
      const slowed = await failUntilSlowed(username, '198.51.100.1');
      expect(slowed).toMatchObject({ status: 429, json: { status: 429, title: 'Too Many Requests' } });
      expect(slowed.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await lengthenPause('198.51.100.1');
      for (const gateway of stack.urls) {
        const answer = await logIn({ username, password }, { address: '198.51.100.1', gateway });
        expect(answer.status).toBe(429);
      }
    });
  });
});
