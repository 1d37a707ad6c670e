import { eventually, type TestService } from '@stream-events/testing';
import { eventBody, eventsPath, uniqueType, type Problem } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Registered {
  id: string;
  username: string;
  auth_token: string;
}

const usersPath = '/api/v1/users';
const password = 'correct horse battery staple';

describe('users', () => {
  let stack: Stack;
  let open: TestService;

  beforeAll(async () => {
    stack = await startStack();
    open = await stack.startGateway({ REGISTRATION: 'open' });
  }, startLimitMs);

  afterAll(() => stack.stop());

  const register = async (fields: Record<string, unknown> = {}): Promise<Registered> => {
    const body = { username: uniqueType('user'), password, ...fields };
    const { status, text, json } = await stack.request<Registered>('POST', usersPath, { body });
    if (status !== 201) throw new Error(`registration: ${status} ${text}`);
    return json;
  };

  const statusFor = async (token: string | null, gateway = stack.url): Promise<number> =>
    (await stack.request('GET', `${usersPath}/me`, { token, gateway })).status;

  const expectRefusedEverywhere = async (token: string): Promise<void> => {
    for (const gateway of stack.urls)
      await eventually(async () => expect(await statusFor(token, gateway)).toBe(401));
  };

  /** Uses the token at every gateway, so that every gateway caches it. */
  const useEverywhere = async (token: string): Promise<void> => {
    for (const gateway of stack.urls) expect(await statusFor(token, gateway)).toBe(200);
  };

  it('405 for a method that the own user does not support, instead of a look for a user with the id me', async () => {
    const answer = await stack.request('DELETE', `${usersPath}/me`);
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH');
  });

  describe('registration', () => {
    it('responds with 201, the user, an access token, and the URL', async () => {
      const username = uniqueType('user');
      const fields = { first_name: ' Ada ', last_name: 'Lovelace', email: 'ada@example.org' };
      const body = { username: ` ${username} `, password, ...fields, role: 'owner', id: 'mine' };
      const answer = await stack.request<Registered>('POST', usersPath, { body });
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        username,
        ...fields,
        first_name: 'Ada',
        role: 'user',
        disabled: false,
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/),
        auth_token: expect.stringMatching(/^[0-9a-f]{40}$/),
      });
      const { auth_token, ...user } = answer.json;
      const read = await stack.request('GET', answer.headers.get('location') ?? '');
      expect(read.json).toEqual(user);
      expect((await stack.request('GET', `${usersPath}/me`, { token: auth_token })).json).toEqual(user);
    });

    it.each([
      ['nothing', {}, ['password', 'username']],
      [
        'wrong types',
        { username: 5, password: [], email: 7, first_name: {} },
        ['email', 'first_name', 'password', 'username'],
      ],
      ['a short password', { username: 'short', password: '123456789' }, ['password']],
      [
        'the user name as the password',
        { username: 'long-user-name', password: 'Long-User-NAME' },
        ['password'],
      ],
      ['NUL in the password', { username: 'nul', password: 'a password \0' }, ['password']],
      ['a user name with a space', { username: 'a b', password }, ['username']],
      ['a user name of 151 characters', { username: 'x'.repeat(151), password }, ['username']],
      ['an invalid e-mail address', { username: 'mail', password, email: 'nowhere' }, ['email']],
    ])('rejects %s with all errors in one response', async (_, body, fields) => {
      const { status, json } = await stack.request<Problem>('POST', usersPath, { body });
      expect({ status, fields: Object.keys(json.errors ?? {}).sort() }).toEqual({ status: 400, fields });
    });

    it('is for owners only unless REGISTRATION is open', async () => {
      const { auth_token } = await register();
      const post = (token: string | null, gateway: string) =>
        stack.request('POST', usersPath, {
          token,
          gateway,
          body: { username: uniqueType('user'), password, role: 'owner' },
        });
      expect(await post(null, stack.url)).toMatchObject({ status: 401 });
      expect(await post(auth_token, stack.url)).toMatchObject({ status: 403 });
      expect(await post(null, open.url)).toMatchObject({ status: 201, json: { role: 'user' } });
    });
  });

  describe('open registration', () => {
    const post = (
      token: string | null,
      headers: Record<string, string> = {},
      username = uniqueType('user'),
    ) =>
      stack.request<Problem>('POST', '/users/', {
        token,
        gateway: open.url,
        headers,
        body: { username, password },
      });

    it('is limited to 10 users per address and hour, without those that an owner registers', async () => {
      await stack.query('DELETE FROM gateway.login_budgets');
      const { auth_token, username } = await register();
      expect((await post(null, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      expect((await post(null, {}, username)).status).toBe(409);
      for (let count = 0; count < 10; count += 1) expect((await post(null)).status).toBe(201);

      for (const token of [null, auth_token]) {
        const refused = await post(token);
        expect(refused.status).toBe(429);
        expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000);
      }
      expect((await post(stack.ownerToken)).status).toBe(201);
      await stack.query("UPDATE gateway.login_budgets SET updated_at = updated_at - interval '1 hour'");
      expect((await post(null)).status).toBe(201);
    }, 180_000);
  });

  describe('rate limits', () => {
    it('reject requests and writes above the limits, report them, and leave other users alone', async () => {
      // With limits this low, the service rejects some of the requests even if a busy machine takes 30 s for them.
      const limited = await stack.startGateway({ RATE_LIMIT_REQUESTS: '2', RATE_LIMIT_WRITES: '1' });
      const [writer, reader, other] = [await register(), await register(), await register()];
      const send = (method: string, { auth_token: key }: Registered) =>
        stack.request(method, method === 'GET' ? `${usersPath}/me` : eventsPath, {
          token: key,
          gateway: limited.url,
          ...(method === 'POST' && { body: eventBody() }),
        });
      const sendAll = (method: string, user: Registered, count: number) =>
        Promise.all(Array.from({ length: count }, () => send(method, user)));

      const writes = await sendAll('POST', writer, 40);
      const reads = await sendAll('GET', reader, 80);
      expect(new Set(writes.map(({ status }) => status))).toEqual(new Set([201, 429]));
      expect(new Set(reads.map(({ status }) => status))).toEqual(new Set([200, 429]));
      const refused = writes.find(({ status }) => status === 429);
      expect(refused?.headers.get('retry-after')).toBe('1');
      expect(refused?.json).toMatchObject({ status: 429, title: 'Too Many Requests' });
      const answer = await send('GET', other);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('ratelimit-policy')).toBe('"default";q=2;w=1');
      expect(answer.headers.get('ratelimit')).toBe('"default";r=1;t=1');
    });
  });

  describe('roles', () => {
    it('let an owner list and show users', async () => {
      const { auth_token: _, ...user } = await register();
      const list = await stack.request<unknown[]>('GET', usersPath);
      expect(list.json).toContainEqual(user);
      expect(list.json[0]).toMatchObject({ username: 'owner', role: 'owner' });
      expect((await stack.request('GET', `${usersPath}/${user.id}`)).json).toEqual(user);
      expect((await stack.request('GET', `${usersPath}/nobody`)).status).toBe(404);
    });
  });

  describe('PATCH /api/v1/users/me', () => {
    it('changes names and e-mail independently, and nothing else', async () => {
      const { auth_token: token, ...user } = await register({ first_name: 'Ada', email: 'ada@example.org' });
      const patch = (body: unknown) => stack.request<Problem>('PATCH', `${usersPath}/me`, { token, body });
      expect(
        (await patch({ last_name: 'Byron', username: 'x', role: 'owner', disabled: true })).json,
      ).toEqual({
        ...user,
        last_name: 'Byron',
      });
      expect((await patch({ email: '' })).json).toEqual({ ...user, last_name: 'Byron', email: '' });
      expect((await patch({ email: 'x', first_name: 5 })).json.errors).toEqual({
        email: [expect.any(String)],
        first_name: [expect.any(String)],
      });
    });
  });

  describe('POST /api/v1/users/me/token', () => {
    it('ends the old token at every gateway', async () => {
      const { username, auth_token: old } = await register();
      await useEverywhere(old);
      const { status, json } = await stack.request<{ token: string }>('POST', `${usersPath}/me/token`, {
        token: old,
        body: { current_password: password },
      });
      expect(status).toBe(200);
      expect(json.token).toMatch(/^[0-9a-f]{40}$/);
      expect(json.token).not.toBe(old);
      await useEverywhere(json.token);
      await expectRefusedEverywhere(old);
      expect(await stack.logIn(username, password)).toBe(json.token);
    });
  });

  describe('POST /api/v1/users/me/password', () => {
    const change = (token: string, body: unknown) =>
      stack.request<{ token: string } & Problem>('POST', `${usersPath}/me/password`, { token, body });

    it('changes the password and ends other sessions', async () => {
      const { username, auth_token: old } = await register();
      await useEverywhere(old);
      const { status, json } = await change(old, {
        current_password: password,
        new_password: ' another password ',
      });
      expect(status).toBe(200);
      await expectRefusedEverywhere(old);
      expect(await stack.logIn(username, ' another password ')).toBe(json.token);
      await expect(stack.logIn(username, 'another password')).rejects.toThrow('400');
      await expect(stack.logIn(username, password)).rejects.toThrow('400');
    });

    it.each([
      [
        'a wrong current password',
        { current_password: 'wrong', new_password: 'another password' },
        ['current_password'],
      ],
      ['the user name', { current_password: password, new_password: 'The-Same-Name' }, ['new_password']],
      ['a short password', { current_password: password, new_password: 'short' }, ['new_password']],
      ['nothing', {}, ['current_password', 'new_password']],
    ])('rejects %s', async (_, body, fields) => {
      const username = uniqueType('the-same-name');
      const { auth_token: token } = await register({ username });
      const replaced = JSON.parse(
        JSON.stringify(body).replace('The-Same-Name', username.toUpperCase()),
      ) as unknown;
      const { status, json } = await change(token, replaced);
      expect({ status, fields: Object.keys(json.errors ?? {}).sort() }).toEqual({ status: 400, fields });
      expect(await statusFor(token)).toBe(200);
    });
  });

  describe('PATCH /api/v1/users/<ID>', () => {
    const change = (id: string, body: unknown) => stack.request('PATCH', `${usersPath}/${id}`, { body });

    it('disables a user at every gateway, for good, until the user logs in again', async () => {
      const { id, username, auth_token: token } = await register();
      await useEverywhere(token);
      expect(await change(id, { disabled: true })).toMatchObject({
        status: 200,
        json: { id, disabled: true },
      });
      await expectRefusedEverywhere(token);
      await expect(stack.logIn(username, password)).rejects.toThrow(
        'Unable to log in with provided credentials.',
      );
      expect(await change(id, { disabled: false })).toMatchObject({ status: 200, json: { disabled: false } });
      await expectRefusedEverywhere(token);
      await useEverywhere(await stack.logIn(username, password));
    });

    it('makes a user an owner, and an owner a user', async () => {
      const { id, auth_token: token } = await register();
      const list = () => stack.request('GET', usersPath, { token });
      expect(await change(id, { role: 'owner' })).toMatchObject({ status: 200, json: { role: 'owner' } });
      await eventually(async () => expect(await list()).toMatchObject({ status: 200 }));
      expect(await change(id, { role: 'user' })).toMatchObject({ status: 200, json: { role: 'user' } });
      await eventually(async () => expect(await list()).toMatchObject({ status: 403 }));
    });

    it('accepts only valid values, and only users that exist', async () => {
      const { id } = await register();
      for (const body of [{ disabled: 'true' }, { disabled: 1 }, { disabled: null }, {}])
        expect(await change(id, body)).toMatchObject({ status: 400, json: { errors: { disabled: {} } } });
      expect(await change(id, { role: 'admin' })).toMatchObject({
        status: 400,
        json: { errors: { role: {} } },
      });
      const unknown = '01999999-9999-7999-8999-999999999999';
      expect(await change(unknown, { disabled: true })).toMatchObject({ status: 404 });
    });
  });
});
