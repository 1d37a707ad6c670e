import { connect } from 'node:net';
import {
  eventBody,
  eventsPath,
  problemType,
  uniqueType,
  type EventPage,
  type EventRecord,
  type Problem,
} from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const uuidV4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const unknownId = '01999999-9999-7999-8999-999999999999';

describe('events API', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const create = (fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) =>
    stack.request<EventRecord>('POST', eventsPath, { body: eventBody(fields), headers });

  const refuse = (body: unknown) => stack.request<Problem>('POST', eventsPath, { body });

  describe('POST /api/v1/platform-events', () => {
    it('responds with 201, the stored event, and its URL', async () => {
      const data = { broadcaster_user_id: '1', broadcaster_user_name: 'A', broadcaster_user_login: 'a' };
      const answer = await create({ event_type: 'stream-offline', event_source: 'Mine', event_data: data });
      expect(answer.status).toBe(201);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.json).toEqual({
        id: expect.stringMatching(uuidV7),
        event_id: null,
        event_type: 'stream-offline',
        event_source: 'Mine',
        event_data: data,
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/),
        origin: 'platform',
      });
      expect(answer.headers.get('location')).toBe(`${eventsPath}/${answer.json.id}`);
      const read = await stack.request('GET', answer.headers.get('location') ?? '');
      expect(read.status).toBe(200);
      expect(read.text).toBe(answer.text);
    });

    it('stores the event before it responds', async () => {
      const { json } = await create();
      const rows = await stack.query('SELECT 1 FROM events.events WHERE id = $1', [json.id]);
      expect(rows).toHaveLength(1);
    });

    it('ignores read-only and unknown fields', async () => {
      const { status, json } = await create({
        id: unknownId,
        event_id: 'mine',
        created: '2001-01-01T00:00:00+0000',
        origin: 'test',
        colour: 'blue',
      });
      expect(status).toBe(201);
      expect(json).toMatchObject({ event_id: null, origin: 'platform' });
      expect(json.id).not.toBe(unknownId);
      expect(json.created).not.toMatch(/^2001/);
      expect(json).not.toHaveProperty('colour');
    });

    it('trims the type and keeps the source as sent', async () => {
      const { json } = await create({ event_type: ' \tstream-offline\n ', event_source: '  Mine ' });
      expect(json).toMatchObject({ event_type: 'stream-offline', event_source: '  Mine ' });
    });

    it('accepts a type of 255 and a source of 32 characters, and counts an emoji as one', async () => {
      const longest = { event_type: '😀'.repeat(255), event_source: '😀'.repeat(32) };
      expect(await create(longest)).toMatchObject({ status: 201, json: longest });
    });

    it.each([
      ['no fields', {}, ['event_data', 'event_source', 'event_type']],
      [
        'wrong types, which are not coerced',
        { event_type: 5, event_source: true, event_data: '{}' },
        ['event_data', 'event_source', 'event_type'],
      ],
      [
        'nulls',
        { event_type: null, event_source: null, event_data: null },
        ['event_data', 'event_source', 'event_type'],
      ],
      ['an array as data', eventBody({ event_data: [] }), ['event_data']],
      ['an object as type', eventBody({ event_type: { a: 1 } }), ['event_type']],
      ['an empty type', eventBody({ event_type: '' }), ['event_type']],
      ['a blank type', eventBody({ event_type: '   ' }), ['event_type']],
      ['an empty source', eventBody({ event_source: '' }), ['event_source']],
      ['a type of 256 characters', eventBody({ event_type: 'x'.repeat(256) }), ['event_type']],
      ['a source of 33 characters', eventBody({ event_source: 'x'.repeat(33) }), ['event_source']],
      ['NUL in the type', eventBody({ event_type: 'a\0b' }), ['event_type']],
      ['NUL in the source', eventBody({ event_source: 'a\0b' }), ['event_source']],
      ['half a surrogate pair in the type', eventBody({ event_type: 'a\ud83d' }), ['event_type']],
      ['half a surrogate pair in the source', eventBody({ event_source: '\ude00' }), ['event_source']],
    ])('rejects %s with all errors in one response', async (_, body, fields) => {
      const answer = await refuse(body);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(problemType);
      expect(answer.json).toMatchObject({
        type: 'about:blank',
        title: 'Bad Request',
        status: 400,
        detail: expect.any(String),
      });
      expect(Object.keys(answer.json.errors ?? {}).sort()).toEqual(fields);
      for (const messages of Object.values(answer.json.errors ?? {}))
        expect(messages).toEqual([expect.any(String)]);
    });

    it.each([
      ['no body', ''],
      ['invalid JSON', '{"event_type":'],
      ['NaN', '{"event_type":"a","event_source":"b","event_data":{"n":NaN}}'],
      ['an array', '[]'],
      ['null', 'null'],
      ['a raw control character', '{"event_type":"a\u0001"}'],
      ['bad UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
      ['a UTF-8 encoded surrogate', Buffer.from('7b2261223a22eda080227d', 'hex')],
      ['100,000 open brackets', '['.repeat(100_000)],
    ])('rejects %s with a problem document', async (_, body) => {
      const answer = await refuse(body);
      expect(answer.status).toBe(400);
      expect(answer.headers.get('content-type')).toMatch(problemType);
      expect(answer.json).toMatchObject({ status: 400, detail: expect.any(String) });
    });

    it('accepts a body of 256 KiB and rejects a larger one with 413', async () => {
      const body = (size: number): string => {
        const empty = JSON.stringify(eventBody({ event_data: { text: '' } }));
        return JSON.stringify(eventBody({ event_data: { text: 'x'.repeat(size - empty.length) } }));
      };
      expect(await refuse(body(256 * 1024))).toMatchObject({ status: 201 });
      expect(await refuse(body(256 * 1024 + 1))).toMatchObject({
        status: 413,
        json: { status: 413, title: 'Content Too Large' },
      });
    });

    it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', ''])(
      'rejects the content type "%s" with 415',
      async (type) => {
        const headers = { 'content-type': type };
        const answer = await stack.request('POST', eventsPath, { body: eventBody(), headers });
        expect(answer).toMatchObject({ status: 415, json: { status: 415 } });
        expect(answer.headers.get('content-type')).toMatch(problemType);
      },
    );

    it('accepts application/json with a charset', async () => {
      const headers = { 'content-type': 'application/json; charset=utf-8' };
      expect(await create({}, headers)).toMatchObject({ status: 201 });
    });
  });

  describe('Idempotency-Key', () => {
    const withKey = (key: string, event_type: string, token = stack.ownerToken) =>
      stack.request<EventRecord>('POST', eventsPath, {
        body: eventBody({ event_type }),
        headers: { 'idempotency-key': key },
        token,
      });

    it('repeats the first response and stores nothing, even for many simultaneous requests', async () => {
      const key = uniqueType('key');
      const type = uniqueType();
      const first = await withKey(key, type);
      const again = await Promise.all(Array.from({ length: 10 }, () => withKey(key, type)));
      for (const answer of [first, ...again]) {
        expect(answer).toMatchObject({ status: 201, text: first.text });
        expect(answer.headers.get('location')).toBe(first.headers.get('location'));
      }
      const list = await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`);
      expect(list.json.results).toEqual([first.json]);
    });

    it('gives all requests the same response when the first ones arrive at the same time', async () => {
      const key = uniqueType('key');
      const answers = await Promise.all(Array.from({ length: 10 }, () => withKey(key, 'stream-offline')));
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    });

    it('applies only to its user', async () => {
      const username = uniqueType('user');
      const registered = await stack.request<{ auth_token: string }>('POST', '/api/v1/users', {
        body: { username, password: 'a password of some length' },
      });
      const key = uniqueType('key');
      const first = await withKey(key, 'stream-offline');
      const other = await withKey(key, 'stream-offline', registered.json.auth_token);
      expect(other.status).toBe(201);
      expect(other.json.id).not.toBe(first.json.id);
    });

    it('has at most 255 characters', async () => {
      expect(await withKey(uniqueType('k').padEnd(255, 'x'), 'stream-offline')).toMatchObject({
        status: 201,
      });
      expect(await withKey('x'.repeat(256), 'stream-offline')).toMatchObject({
        status: 400,
        json: { errors: { 'Idempotency-Key': [expect.any(String)] } },
      });
    });

    it('also applies to test events', async () => {
      const headers = { 'idempotency-key': uniqueType('key') };
      const post = () => stack.request('POST', `${eventsPath}/raid/test`, { body: {}, headers });
      const first = await post();
      expect(await post()).toMatchObject({ status: 200, text: first.text });
    });
  });

  describe('POST /api/v1/platform-events/<EVENT_TYPE>/test', () => {
    const test = (type: string, body: unknown = { broadcaster_user_id: '1' }) =>
      stack.request<EventRecord>('POST', `${eventsPath}/${type}/test`, { body });

    it('responds with 200 and a test event, which is listed and found by its event_id', async () => {
      const type = uniqueType();
      const { status, json, text } = await test(type, { broadcaster_user_id: '1' });
      expect(status).toBe(200);
      expect(json).toEqual({
        id: null,
        event_id: expect.stringMatching(uuidV4),
        event_type: type,
        event_source: 'TestCall',
        event_data: { broadcaster_user_id: '1' },
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/),
        origin: 'test',
      });
      expect((await stack.request('GET', `${eventsPath}/${json.event_id}`)).text).toBe(text);
      const list = await stack.request('GET', `${eventsPath}?event_type=${type}`);
      expect(list.text).toBe(`{"next":null,"previous":null,"results":[${text}]}`);
    });

    it('accepts any type of 1 to 255 characters without a slash', async () => {
      expect((await test('my%20type%2e%F0%9F%98%80')).json.event_type).toBe('my type.😀');
      expect((await test(encodeURIComponent('😀'.repeat(255)))).status).toBe(200);
      for (const type of ['x'.repeat(256), 'a%2Fb', 'a%00b', '%20'])
        expect(await test(type)).toMatchObject({
          status: 400,
          json: { errors: { event_type: [expect.any(String)] } },
        });
    });

    it.each(['[]', '"text"', '5', 'null', '', '{'])('rejects the body %s', async (body) => {
      expect(await test('raid', body)).toMatchObject({ status: 400, json: { status: 400 } });
    });
  });

  describe('GET /api/v1/platform-events/<ID>', () => {
    it.each(['not-a-uuid', unknownId, '01999999-9999-7999-8999-99999999999', '1', 'a%00b'])(
      'responds with 404 to %s',
      async (id) => {
        const answer = await stack.request('GET', `${eventsPath}/${id}`);
        expect(answer).toMatchObject({ status: 404, json: { title: 'Not Found', status: 404 } });
        expect(answer.headers.get('content-type')).toMatch(problemType);
      },
    );

    it('accepts the id in upper case', async () => {
      const { json, text } = await create();
      expect((await stack.request('GET', `${eventsPath}/${json.id?.toUpperCase()}`)).text).toBe(text);
    });
  });

  describe('paths and methods', () => {
    it('serves every path in its branded form and with a trailing slash', async () => {
      const type = uniqueType();
      for (const path of [eventsPath, `${eventsPath}/`, '/api/v1/twitch-events', '/api/v1/twitch-events/']) {
        const created = await stack.request<EventRecord>('POST', path, {
          body: eventBody({ event_type: type }),
        });
        expect(created.status).toBe(201);
        const one = await stack.request('GET', `${path.replace(/\/$/, '')}/${created.json.id}/`);
        expect(one.text).toBe(created.text);
        const made = await stack.request('POST', `${path.replace(/\/$/, '')}/${type}/test/`, { body: {} });
        expect(made.status).toBe(200);
        const list = await stack.request<EventPage>('GET', `${path}?event_type=${type}&page_size=1`);
        expect(list.text).toContain(`"results":[${made.text}]`);
      }
    });

    it('serves the heartbeat without a token, with an invalid one, and with a trailing slash', async () => {
      for (const path of ['/api/v1/heartbeat', '/api/v1/heartbeat/'])
        for (const token of [null, 'bad'])
          expect(await stack.request('GET', path, { token })).toMatchObject({
            status: 200,
            text: '{"message":"pong"}',
          });
    });

    it.each(['/api/v1/heartbeat', eventsPath, `${eventsPath}/`, '/api/v1/users/me'])(
      'handles HEAD %s like GET, without a body',
      async (path) => {
        const get = await stack.request('GET', path);
        const head = await stack.request('HEAD', path);
        expect(head).toMatchObject({ status: 200, text: '' });
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
        expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
      },
    );

    it.each([
      ['DELETE', eventsPath, 'GET, HEAD, POST'],
      ['PUT', '/api/v1/twitch-events/', 'GET, HEAD, POST'],
      ['DELETE', `${eventsPath}/${unknownId}`, 'GET, HEAD'],
      ['PATCH', `${eventsPath}/${unknownId}/`, 'GET, HEAD'],
      ['GET', `${eventsPath}/raid/test`, 'POST'],
      ['POST', '/api/v1/heartbeat', 'GET, HEAD'],
      ['GET', '/api-token-auth/', 'POST'],
    ])('responds to %s %s with 405 and Allow: %s', async (method, path, allow) => {
      const answer = await stack.request(method, path);
      expect(answer).toMatchObject({ status: 405, json: { title: 'Method Not Allowed', status: 405 } });
      expect(answer.headers.get('allow')).toBe(allow);
      expect(answer.headers.get('content-type')).toMatch(problemType);
    });

    it.each([
      ['/nowhere', 404],
      ['/api/v1', 404],
      ['/api/v2/heartbeat', 404],
      ['/api/v1/platform-events-of-mine', 404],
      ['/api/v1/heartbeat//', 404],
      [`${eventsPath}/%zz`, 400],
    ])('responds to the unknown path %s with %i and a problem document', async (path, status) => {
      const answer = await stack.request('GET', path);
      expect(answer).toMatchObject({ status, json: { status, detail: expect.any(String) } });
      expect(answer.headers.get('content-type')).toMatch(problemType);
    });

    it('responds to malformed HTTP with a problem document', async () => {
      const socket = connect(Number(new URL(stack.url).port), '127.0.0.1');
      socket.end('GET / HTTP/1.1\r\nthis is no header\r\n\r\n');
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      expect(text).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(text).toMatch(/content-type: application\/problem\+json/i);
      expect(JSON.parse(text.slice(text.indexOf('\r\n\r\n')))).toMatchObject({ status: 400 });
    });
  });
});
