import { eventually } from '@stream-events/testing';
import { eventBody, eventsPath, newEvent, uniqueType, type EventRecord, type Problem } from './api.js';
import { LiveSocket } from './live-clients.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface TokenRecord {
  id: string;
  user: string;
  kind: string;
  name: string;
  scopes: string[] | null;
  event_types: string[] | null;
  channel_ids: string[] | null;
  created: string;
  expires: string | null;
  last_used: string | null;
  key_start: string;
}

interface IssuedToken extends TokenRecord {
  key: string;
}

const path = '/api/v1/tokens';
const sessionsPath = '/api/v1/sessions';
const password = 'correct horse battery staple';
const unknownId = '01999999-9999-7999-8999-999999999999';
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/;

describe('tokens', () => {
  let stack: Stack;
  let member: { id: string; username: string; token: string };

  beforeAll(async () => {
    stack = await startStack();
    member = await stack.registerUser();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const create = async (fields: object = {}, token = member.token): Promise<IssuedToken> => {
    const body = { name: 'overlay', scopes: ['events:read'], ...fields };
    const { status, json, text } = await stack.request<IssuedToken>('POST', path, { token, body });
    if (status !== 201) throw new Error(`token: ${status} ${text}`);
    return json;
  };

  const startSession = async (username = member.username): Promise<IssuedToken> => {
    const body = { username, password };
    const answer = await stack.request<IssuedToken>('POST', sessionsPath, {
      token: null,
      body,
    });
    const { status, json, text } = answer;
    if (status !== 201) throw new Error(`session: ${status} ${text}`);
    expect(answer.headers.get('location')).toBe(`${path}/${json.id}`);
    return json;
  };

  const statusFor = async (token: string, gateway = stack.url): Promise<number> =>
    (await stack.request('GET', '/api/v1/users/me', { token, gateway })).status;

  const expectRefusedEverywhere = async (token: string): Promise<void> => {
    for (const gateway of stack.urls)
      await eventually(async () => expect(await statusFor(token, gateway)).toBe(401));
  };

  it('show the key once, when they are created', async () => {
    const fields = { name: ' Alerts ', expires: '2036-01-01T00:00:00Z', channel_ids: ['1'] };
    const answer = await stack.request<IssuedToken>('POST', path, {
      token: member.token,
      body: { ...fields, scopes: ['events:live', 'events:read'] },
    });
    expect(answer.status).toBe(201);
    const { key, ...record } = answer.json;
    expect(key).toMatch(/^[0-9a-f]{40}$/);
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      user: member.id,
      kind: 'named',
      name: 'Alerts',
      scopes: ['events:live', 'events:read'],
      event_types: null,
      channel_ids: ['1'],
      created: expect.stringMatching(timePattern),
      expires: '2036-01-01T00:00:00+0000',
      last_used: null,
      key_start: key.slice(0, 4),
    });
    const location = answer.headers.get('location') ?? '';
    expect((await stack.request('GET', location, { token: member.token })).json).toEqual(record);
    const list = await stack.request('GET', path, { token: member.token });
    expect(list.json).toContainEqual(record);
    expect(list.text).not.toContain(key);
  });

  it('are listed with the main token and the sessions', async () => {
    const { id, username, token } = await stack.registerUser();
    const { key: sessionKey, ...session } = await startSession(username);
    const { key, ...named } = await create({}, token);
    const list = await stack.request<TokenRecord[]>('GET', path, { token });
    expect(list.json.map(({ kind, scopes }) => ({ kind, scopes }))).toEqual([
      { kind: 'main', scopes: null },
      { kind: 'named', scopes: ['events:read'] },
      { kind: 'session', scopes: null },
    ]);
    expect(list.json.slice(1)).toEqual([named, session]);
    for (const secret of [token, sessionKey, key]) expect(list.text).not.toContain(secret);
    expect((await stack.request('GET', `${path}?user=${id}`)).json).toEqual(list.json);
  });

  it.each<[what: string, body: object, field: string]>([
    ['no name', { name: undefined }, 'name'],
    ['a name of 65 characters', { name: 'x'.repeat(65) }, 'name'],
    ['no scopes', { scopes: undefined }, 'scopes'],
    ['an empty list of scopes', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['events:delete'] }, 'scopes'],
    ['a scope twice', { scopes: ['events:read', 'events:read'] }, 'scopes'],
    ['a scope that is no list', { scopes: 'events:read' }, 'scopes'],
    ['a time in the past', { expires: '2020-01-01T00:00:00Z' }, 'expires'],
    ['a time that is none', { expires: 'tomorrow' }, 'expires'],
    ['no event types', { event_types: [] }, 'event_types'],
    ['101 channels', { channel_ids: Array.from({ length: 101 }, (_, id) => String(id)) }, 'channel_ids'],
    ['a channel that is no text', { channel_ids: [5] }, 'channel_ids'],
    ['a misspelled limit', { channels: ['1'] }, 'channels'],
    ['a limit beside a write scope', { scopes: ['events:write'], event_types: ['raid'] }, 'scopes'],
    ['a limit beside platform:call', { scopes: ['platform:call'], channel_ids: ['1'] }, 'scopes'],
  ])('are not created with %s', async (_, fields, field) => {
    const body = { name: 'bad', scopes: ['events:read'], ...fields };
    const { status, json } = await stack.request<Problem>('POST', path, { token: member.token, body });
    expect({ status, fields: Object.keys(json.errors ?? {}) }).toEqual({ status: 400, fields: [field] });
  });

  it('show no content of stored events without events:read', async () => {
    const writer = (await create({ scopes: ['events:write'] })).key;
    const [event_type, other] = [uniqueType(), uniqueType()];
    const write = (token: string, path: string, body: object) =>
      stack.request<EventRecord>('POST', path, { token, body, headers: { 'idempotency-key': event_type } });
    const sent = { event_type: other, event_source: 'bot', event_data: { guess: 1 } };
    const paths = [eventsPath, `${eventsPath}/${event_type}/test`];

    for (const path of paths) {
      const first = await write(member.token, path, eventBody({ event_type, event_data: { secret: 4 } }));
      const { id, event_id } = first.json;
      const replay = await stack.request('POST', `${eventsPath}/${id ?? event_id}/replay`, { token: writer });
      expect([replay.status, replay.json]).toEqual([200, { id, event_id, event_type }]);
      const repeated = await write(writer, path, sent);
      expect(repeated.json).toMatchObject({ id, event_id });
      expect(repeated.text).toContain('"guess":1');
      expect(repeated.text).not.toContain('secret');
    }
    const stored = newEvent({ occurredAt: Date.now() });
    await stack.storeEvents([stored]);
    const delivery = await stack.request('GET', `${eventsPath}/${stored.id}/delivery`, { token: writer });
    expect([delivery.status, delivery.json]).toEqual([200, expect.objectContaining({ occurred: null })]);
  });

  it('show only the id and the name of their user', async () => {
    const { username, id, token } = await stack.registerUser();
    const body = { first_name: 'Grace', last_name: 'Murray', email: 'grace@example.net' };
    await stack.request('PATCH', '/api/v1/users/me', { token, body });
    const named = await create({}, token);
    const session = await startSession(username);
    const me = async (key: string) => (await stack.request('GET', '/api/v1/users/me', { token: key })).json;

    expect(await me(named.key)).toEqual({
      ...{ id, username, first_name: null, last_name: null, email: null },
      ...{ role: null, disabled: null, created: null },
    });
    for (const key of [token, session.key])
      expect(await me(key)).toMatchObject({ id, username, ...body, role: 'user', disabled: false });
  });

  it.each(['users', 'categories'])('get pictures of %s only with platform:read', async (kind) => {
    const path = `/api/v1/platform/${kind}/81234/picture`;
    const statusWith = async (scope: string): Promise<number> => {
      const { key } = await create({ scopes: [scope], channel_ids: ['81234'] });
      return (await stack.request('GET', path, { token: key })).status;
    };

    expect(await statusWith('events:live')).toBe(403);
    expect(await statusWith('platform:read')).not.toBe(403);
  });

  it('get new rights at every gateway when they are changed', async () => {
    const { id, key } = await create({ scopes: ['events:read'] });
    for (const gateway of stack.urls)
      expect(await stack.request('GET', eventsPath, { token: key, gateway })).toMatchObject({ status: 200 });
    const answer = await stack.request<TokenRecord>('PATCH', `${path}/${id}`, {
      token: member.token,
      body: { scopes: ['streamers:read'] },
    });
    expect(answer).toMatchObject({ status: 200, json: { name: 'overlay', scopes: ['streamers:read'] } });
    for (const gateway of stack.urls)
      await eventually(async () =>
        expect(await stack.request('GET', eventsPath, { token: key, gateway })).toMatchObject({
          status: 403,
        }),
      );
  });

  it('lose their sockets when their rights change, and can reconnect', async () => {
    const { id, key } = await create({ scopes: ['events:live'] });
    const socket = await LiveSocket.ready(stack.url, { token: key });
    const body = { event_types: ['channel-raid'] };
    await stack.request('PATCH', `${path}/${id}`, { token: member.token, body });
    await eventually(() => expect(socket.closed?.code).toBe(1012));
    await LiveSocket.ready(stack.url, { token: key });
  });

  it('end everywhere when they are revoked, with their sockets', async () => {
    const { id, key } = await create({ scopes: ['events:live'] });
    const sockets = await Promise.all(stack.urls.map((url) => LiveSocket.ready(url, { token: key })));
    expect(await stack.request('DELETE', `${path}/${id}`, { token: member.token })).toMatchObject({
      status: 204,
    });
    await expectRefusedEverywhere(key);
    for (const socket of sockets) await eventually(() => expect(socket.closed?.code).toBe(4401));
    for (const method of ['GET', 'DELETE'])
      expect(await stack.request(method, `${path}/${id}`, { token: member.token })).toMatchObject({
        status: 404,
      });
  });

  it('receive live events only with the scope for it', async () => {
    const { key } = await create({ scopes: ['events:read'] });
    const socket = await LiveSocket.open(stack.url, { token: key });
    await eventually(() => expect(socket.closed?.code).toBe(4403));
    expect(await stack.request('GET', `${eventsPath}/stream`, { token: key })).toMatchObject({ status: 403 });
  });

  it('are managed by their users and by owners', async () => {
    const other = await stack.registerUser();
    const { id, key } = await create({}, other.token);
    for (const method of ['GET', 'DELETE'])
      expect(await stack.request(method, `${path}/${id}`, { token: member.token })).toMatchObject({
        status: 404,
      });
    expect(await stack.request('GET', `${path}?user=${other.id}`, { token: member.token })).toMatchObject({
      status: 403,
    });
    expect(await stack.request('GET', `${path}?user=nobody`)).toMatchObject({ status: 400 });
    expect(await stack.request('GET', `${path}/${unknownId}`)).toMatchObject({ status: 404 });
    expect(await stack.request('DELETE', `${path}/${id}`)).toMatchObject({ status: 204 });
    await expectRefusedEverywhere(key);
  });

  it('let an owner revoke the main token of a member, who gets a new one by logging in', async () => {
    const { id, username, token } = await stack.registerUser();
    const [main] = (await stack.request<TokenRecord[]>('GET', `${path}?user=${id}`)).json;
    expect(await stack.request('PATCH', `${path}/${main!.id}`, { body: { name: 'x' } })).toMatchObject({
      status: 409,
    });
    expect(await stack.request('DELETE', `${path}/${main!.id}`)).toMatchObject({ status: 204 });
    await expectRefusedEverywhere(token);
    const fresh = await stack.logIn(username, password);
    expect(fresh).not.toBe(token);
    expect(await statusFor(fresh)).toBe(200);
  });

  describe('sessions', () => {
    it('have all rights of their user for 12 hours', async () => {
      const session = await startSession();
      const hours = (Date.parse(session.expires ?? '') - Date.now()) / 3_600_000;
      expect(hours).toBeGreaterThan(11.9);
      expect(hours).toBeLessThanOrEqual(12);
      expect(await stack.request('GET', path, { token: session.key })).toMatchObject({ status: 200 });
      expect(
        await stack.request('POST', eventsPath, { token: session.key, body: eventBody() }),
      ).toMatchObject({
        status: 201,
      });
      expect(await stack.request('GET', '/api/v1/users', { token: session.key })).toMatchObject({
        status: 403,
      });
    });

    it('end when their user ends them', async () => {
      const { key } = await startSession();
      expect(await stack.request('DELETE', `${sessionsPath}/current`, { token: key })).toMatchObject({
        status: 204,
      });
      await expectRefusedEverywhere(key);
      expect(await statusFor(member.token)).toBe(200);
    });

    it('are not ended with another token', async () => {
      const answer = await stack.request('DELETE', `${sessionsPath}/current`, { token: member.token });
      expect(answer).toMatchObject({ status: 409 });
    });

    it('need the right password', async () => {
      const body = { username: member.username, password: 'guess' };
      expect(await stack.request('POST', sessionsPath, { token: null, body })).toMatchObject({ status: 400 });
    });
  });
});
