import { resetOwner } from '@stream-events/gateway';
import { eventually } from '@stream-events/testing';
import { newEvent, uniqueType, type Answer, type Problem } from './api.js';
import { owner, secretKey } from './credentials.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface Entry {
  id: string;
  created: string;
  action: string;
  user_id: string | null;
  username: string | null;
  object_id: string | null;
  address: string | null;
  count: number;
}

interface Page {
  next: string | null;
  previous: string | null;
  results: Entry[];
}

const path = '/api/v1/audit-log';
const password = 'correct horse battery staple';

describe('the audit log', () => {
  let stack: Stack;
  let ownerId: string;

  beforeAll(async () => {
    stack = await startStack({ platform: true });
    ownerId = (await stack.request<{ id: string }>('GET', '/api/v1/users/me')).json.id;
  }, startLimitMs);

  afterAll(() => stack.stop());

  const list = (query = '') => stack.request<Page>('GET', path + query);

  /** Waits for the newest audit entry with this object and action. */
  const findEntry = (objectId: string | null, action: string): Promise<Entry> =>
    eventually(
      async () => {
        const { json } = await list('?page_size=100');
        const entry = json.results.find((each) => each.object_id === objectId && each.action === action);
        if (!entry) throw new Error(`no entry ${action} about ${objectId}: ${JSON.stringify(json.results)}`);
        return entry;
      },
      { timeoutMs: 60_000 },
    );

  const expectByOwner = async (objectId: string, action: string): Promise<void> => {
    expect(await findEntry(objectId, action)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/),
      action,
      user_id: ownerId,
      username: owner.username,
      object_id: objectId,
      address: '127.0.0.1',
      count: 1,
    });
  };

  it('has logins and failed logins, but no names that nobody has', async () => {
    const { username, id } = await stack.registerUser();
    const logIn = (name: string, secret: string): Promise<Answer<unknown>> =>
      stack.request('POST', '/api-token-auth', { token: null, body: { username: name, password: secret } });
    await stack.logIn(username, password);
    expect(await findEntry(id, 'user.logged_in')).toMatchObject({
      user_id: id,
      username,
      address: '127.0.0.1',
    });

    await logIn(username, 'a wrong password');
    expect(await findEntry(id, 'user.login_failed')).toMatchObject({ user_id: id, username });

    const mistyped = uniqueType('secret');
    await logIn(mistyped, 'whatever it is');
    expect(await findEntry(null, 'user.login_failed')).toMatchObject({ user_id: null, username: null });
    expect((await list('?page_size=100')).text).not.toContain(mistyped);
  });

  it('has changes of users, passwords, and tokens', async () => {
    const { username, id, token } = await stack.registerUser();
    await expectByOwner(id, 'user.created');

    const rotated = await stack.request<{ token: string }>('POST', '/api/v1/users/me/token', {
      token,
      body: { current_password: password },
    });
    expect(await findEntry(id, 'token.rotated')).toMatchObject({ user_id: id, username });

    const change = { current_password: password, new_password: 'another horse battery staple' };
    await stack.request('POST', '/api/v1/users/me/password', { token: rotated.json.token, body: change });
    expect(await findEntry(id, 'user.password_changed')).toMatchObject({ user_id: id, username });

    await stack.request('PATCH', `/api/v1/users/${id}`, { body: { disabled: true } });
    await expectByOwner(id, 'user.disabled');
    await stack.request('PATCH', `/api/v1/users/${id}`, { body: { disabled: false } });
    await expectByOwner(id, 'user.enabled');
    await stack.request('PATCH', `/api/v1/users/${id}`, { body: { disabled: false, role: 'owner' } });
    await expectByOwner(id, 'user.made_owner');
    await stack.request('PATCH', `/api/v1/users/${id}`, { body: { role: 'user' } });
    await expectByOwner(id, 'user.made_user');
    await stack.request('DELETE', `/api/v1/users/${id}`);
    await expectByOwner(id, 'user.deleted');
    // The request that made the user an owner did not change that the user is enabled.
    const { results } = (await list(`?action=user.enabled&user=${ownerId}`)).json;
    expect(results.filter(({ object_id }) => object_id === id)).toHaveLength(1);
  });

  it('has named tokens and sessions', async () => {
    const body = { name: 'overlay', scopes: ['events:live'] };
    const { id } = (await stack.request<{ id: string }>('POST', '/api/v1/tokens', { body })).json;
    await expectByOwner(id, 'token.created');
    await stack.request('PATCH', `/api/v1/tokens/${id}`, { body });
    await stack.request('PATCH', `/api/v1/tokens/${id}`, { body: { name: 'old overlay' } });
    await expectByOwner(id, 'token.updated');
    // The first request changed nothing.
    const { results } = (await list('?action=token.updated')).json;
    expect(results.filter(({ object_id }) => object_id === id)).toHaveLength(1);
    await stack.request('DELETE', `/api/v1/tokens/${id}`);
    await expectByOwner(id, 'token.revoked');

    const session = await stack.request<{ id: string; key: string }>('POST', '/api/v1/sessions', {
      token: null,
      body: owner,
    });
    await stack.request('DELETE', '/api/v1/sessions/current', { token: session.json.key });
    await expectByOwner(session.json.id, 'token.revoked');
  });

  it('has dead letters, replays of ranges, and event types', async () => {
    const events = [newEvent({ eventData: '' }), newEvent({ eventData: '' })];
    await stack.storeEvents(events);
    const [discarded, refused] = events.map(({ id }) => id) as [string, string]; // Safe cast: there are two events.
    await stack.request('DELETE', `/api/v1/dead-letters/${discarded}`);
    await expectByOwner(discarded, 'dead_letter.discarded');
    expect(await stack.request('POST', `/api/v1/dead-letters/${refused}/retry`)).toMatchObject({
      status: 409,
    });

    const range = { since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' };
    const replay = await stack.request<{ id: string }>('POST', '/api/v1/replays', { body: range });
    await expectByOwner(replay.json.id, 'replay.started');
    await stack.request('DELETE', `/api/v1/replays/${replay.json.id}`);
    await expectByOwner(replay.json.id, 'replay.removed');
    // The failed retry wrote no entry. Entries of later actions are already listed, so an entry of the retry would be listed too.
    const { results } = (await list('?page_size=100')).json;
    expect(results.filter(({ object_id }) => object_id === refused)).toEqual([]);

    const type = { path: '/api/v1/platform/event-types/stream.online', name: 'stream.online' };
    await stack.request('PUT', type.path, { body: { active: false } });
    await expectByOwner(type.name, 'event_type.deactivated');
    await stack.request('PUT', type.path, { body: { active: true } });
    await expectByOwner(type.name, 'event_type.activated');
  });

  it('has deletions', async () => {
    const scope = { scope: uniqueType('scope') };
    const created = await stack.request<{ id: string }>('POST', '/api/v1/platform/scopes', { body: scope });
    await stack.request('DELETE', `/api/v1/platform/scopes/${created.json.id}`);
    await expectByOwner(created.json.id, 'scope.deleted');
  });

  it('has the recovery of an owner on the machine', async () => {
    const { username, token } = await resetOwner(stack.databaseUrlFor('gateway'), [secretKey]);
    stack.ownerToken = token;
    expect(username).toBe(owner.username);
    expect(await findEntry(ownerId, 'user.recovered')).toMatchObject({ user_id: null, address: null });
  });

  it('is a list with cursors', async () => {
    const first = await list('?page_size=2');
    expect(first.json.results).toHaveLength(2);
    const second = await stack.request<Page>('GET', first.json.next ?? '');
    expect(second.json.results[0]?.id).not.toBe(first.json.results[1]?.id);
    expect((await stack.request<Page>('GET', second.json.previous ?? '')).json.results).toEqual(
      first.json.results,
    );
    const filtered = await list(`?page_size=1&action=token.revoked&user=${ownerId}`);
    expect(filtered.json.results).toMatchObject([{ action: 'token.revoked', user_id: ownerId }]);
    const next = new URL(filtered.json.next ?? '');
    expect((await stack.request<Page>('GET', next.href)).json.results).toMatchObject([
      { action: 'token.revoked' },
    ]);
    next.searchParams.set('action', 'token.created');
    expect(await stack.request('GET', next.href)).toMatchObject({
      status: 400,
      json: { errors: { cursor: [expect.any(String)] } },
    });
    expect(await list('?action=token.eaten&user=ada')).toMatchObject({
      status: 400,
      json: { errors: { action: [expect.any(String)], user: [expect.any(String)] } },
    });
    expect((await list('?page_size=0')).json).toMatchObject<Partial<Problem>>({ status: 400 });
    expect(await list('?cursor=nonsense')).toMatchObject({ status: 400 });
  });
});
