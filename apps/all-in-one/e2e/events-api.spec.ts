import {
  eventBody,
  eventsPath,
  newEvent,
  problemType,
  uniqueType,
  type EventPage,
  type EventRecord,
  type Problem,
} from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const uuidV7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
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
      ['an array as data', eventBody({ event_data: [] }), ['event_data']],
      ['a blank type', eventBody({ event_type: '   ' }), ['event_type']],
      ['a type of 256 characters', eventBody({ event_type: 'x'.repeat(256) }), ['event_type']],
      ['a source of 33 characters', eventBody({ event_source: 'x'.repeat(33) }), ['event_source']],
      ['NUL in the type', eventBody({ event_type: 'a\0b' }), ['event_type']],
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
      ['invalid JSON', '{"event_type":'],
      ['an array', '[]'],
      ['bad UTF-8', Buffer.from('7b2261223a22ff227d', 'hex')],
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
      const { token } = await stack.registerUser();
      const key = uniqueType('key');
      const first = await withKey(key, 'stream-offline');
      const other = await withKey(key, 'stream-offline', token);
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

  describe('GET /api/v1/platform-events', () => {
    const list = (url: string) => stack.request<EventPage>('GET', url);

    /** Stores events, oldest first, with `inOneMillisecond` events per millisecond. Returns their ids, newest first. */
    const fill = async (type: string, count: number, inOneMillisecond = 1): Promise<string[]> => {
      const first = Date.now() - 3_600_000;
      const events = Array.from({ length: count }, (_, index) =>
        newEvent({ time: first + Math.floor(index / inOneMillisecond), eventType: type }),
      );
      for (let at = 0; at < count; at += 200) await stack.storeEvents(events.slice(at, at + 200));
      return events
        .map(({ id }) => id)
        .sort()
        .reverse();
    };

    /** Follows the links to the last page. Calls `visit` on every page. */
    const walk = async (
      start: string,
      link: 'next' | 'previous',
      visit: () => Promise<unknown> = () => Promise.resolve(),
    ): Promise<{ ids: (string | null)[]; last: EventPage }> => {
      const ids: (string | null)[] = [];
      for (let url = start; ;) {
        const { status, json } = await list(url);
        expect(status).toBe(200);
        ids.push(...(link === 'next' ? json.results : json.results.toReversed()).map(({ id }) => id));
        await visit();
        if (json[link] === null) return { ids, last: json };
        url = json[link];
      }
    };

    // This test sends about 90 requests in sequence.
    it(
      'pages 1,000 events, 100 in each millisecond, to the end and back, each once, while new ones arrive',
      async () => {
        const type = uniqueType('busy');
        const ids = await fill(type, 1_000, 100);
        const arrived: (string | null)[] = [];
        const arrive = async (): Promise<void> =>
          void arrived.unshift((await create({ event_type: type })).json.id);
        const forward = await walk(`${eventsPath}?event_type=${type}&page_size=37`, 'next', arrive);
        expect(forward.ids).toEqual(ids);

        const lastPage = forward.last.results.map(({ id }) => id);
        const backward = await walk(forward.last.previous ?? '', 'previous');
        // Events that arrived during paging are newest, so paging back reaches them last.
        expect(backward.ids.toReversed()).toEqual([...arrived, ...ids.slice(0, -lastPage.length)]);
      },
      2 * startLimitMs,
    );

    it.each(['/api/v1/platform-events', '/api/v1/twitch-events/'])(
      'has absolute links that keep the path %s and every other parameter',
      async (path) => {
        const type = uniqueType('linked');
        await fill(type, 5);
        const query = `colour=sky+blue&event_type=${type}&user_id=&page_size=2&a=%26&a=2`;
        const first = await list(`${path}?${query}`);
        const next = new URL(first.json.next ?? '');
        expect(stack.urls).toContain(next.origin);
        expect(next.pathname).toBe(path);
        expect(next.searchParams.get('cursor')).toMatch(/^[\w-]+$/);
        next.searchParams.delete('cursor');
        expect([...next.searchParams]).toEqual([...new URLSearchParams(query)]);

        const second = await list(first.json.next ?? '');
        expect(new URL(second.json.next ?? '').searchParams.getAll('cursor')).toHaveLength(1);
        const back = await list(second.json.previous ?? '');
        expect(back.json.results).toEqual(first.json.results);
        expect(new URL(second.json.previous ?? '').pathname).toBe(path);
      },
    );
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
    it.each([
      ['DELETE', eventsPath, 'GET, HEAD, POST'],
      ['PUT', '/api/v1/twitch-events/', 'GET, HEAD, POST'],
      ['DELETE', `${eventsPath}/${unknownId}`, 'GET, HEAD'],
      ['PATCH', `${eventsPath}/${unknownId}/`, 'GET, HEAD'],
      ['GET', `${eventsPath}/raid/test`, 'POST'],
      // By default, Fastify rejects QUERY without a content type.
      ['QUERY', eventsPath, 'GET, HEAD, POST'],
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
  });
});
