import {
  eventBody,
  eventsPath,
  newEvent,
  uniqueType,
  type EventPage,
  type EventRecord,
  type Problem,
} from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

describe('event pages', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

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

  const add = (type: string) =>
    stack.request<EventRecord>('POST', eventsPath, { body: eventBody({ event_type: type }) });

  describe('of 1,000 events, 100 in each millisecond, while new ones arrive', () => {
    const type = uniqueType('busy');
    let ids: string[];

    beforeAll(async () => {
      ids = await fill(type, 1_000, 100);
    }, startLimitMs);

    it('share milliseconds', () => {
      expect(new Set(ids.map((id) => id.slice(0, 13))).size).toBe(10);
    });

    // This test sends about 90 requests in sequence.
    it(
      'are paged to the end and back, each event exactly once',
      async () => {
        const arrived: (string | null)[] = [];
        const arrive = async (): Promise<void> => void arrived.unshift((await add(type)).json.id);
        const forward = await walk(`${eventsPath}?event_type=${type}&page_size=37`, 'next', arrive);
        expect(forward.ids).toEqual(ids);

        const lastPage = forward.last.results.map(({ id }) => id);
        const backward = await walk(forward.last.previous ?? '', 'previous');
        // Events that arrived during paging are newest, so paging back reaches them last.
        expect(backward.ids.toReversed()).toEqual([...arrived, ...ids.slice(0, -lastPage.length)]);
      },
      startLimitMs,
    );

    it('are paged with filters that need more than one index', async () => {
      const query = `event_type=${type}&event_source=PlatformSub&origin=platform&until=${new Date(Date.now() - 60_000).toISOString()}`;
      expect((await walk(`${eventsPath}?${query}&page_size=100`, 'next')).ids).toEqual(ids);
    });
  });

  describe('page_size', () => {
    const type = uniqueType('sized');

    beforeAll(() => fill(type, 120));

    it.each([
      ['', 50],
      ['page_size=', 50],
      ['page_size=1', 1],
      ['page_size=100', 100],
      ['page_size=7&page_size=3', 3],
    ])('returns the right number of events: "%s" gives %i', async (query, size) => {
      const { json } = await list(`${eventsPath}?event_type=${type}&${query}`);
      expect(json.results).toHaveLength(size);
      expect(json.next).not.toBeNull();
    });

    it.each(['0', '101', '-1', '1.5', '1e1', 'ten', '0x10', '%2010', '9'.repeat(400)])(
      'is rejected when it is %s',
      async (size) => {
        const { status, json } = await stack.request<Problem>('GET', `${eventsPath}?page_size=${size}`);
        expect({ status, errors: json.errors }).toEqual({
          status: 400,
          errors: { page_size: [expect.any(String)] },
        });
      },
    );

    it('may change from page to page', async () => {
      const { json } = await list(`${eventsPath}?event_type=${type}&page_size=10`);
      const next = new URL(json.next ?? '');
      next.searchParams.set('page_size', '20');
      expect((await list(next.href)).json.results).toHaveLength(20);
    });

    it('returns no next page when it matches the number of events', async () => {
      const exact = uniqueType('exact');
      await fill(exact, 3);
      const { json } = await list(`${eventsPath}?event_type=${exact}&page_size=3`);
      expect(json).toMatchObject({ next: null, previous: null });
      expect(json.results).toHaveLength(3);
    });
  });

  describe('links', () => {
    const type = uniqueType('linked');
    let ids: string[];

    beforeAll(async () => {
      ids = await fill(type, 5);
    });

    it.each([
      '/api/v1/platform-events',
      '/api/v1/platform-events/',
      '/api/v1/twitch-events',
      '/api/v1/twitch-events/',
    ])('are absolute and keep the form %s and every other parameter', async (path) => {
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
    });

    it('lead from the newest page to newer events as soon as there are any', async () => {
      const own = uniqueType('newest');
      await fill(own, 2);
      const url = `${eventsPath}?event_type=${own}&page_size=1`;
      const newest = await list(url);
      expect(newest.json.previous).toBeNull();
      const second = await list(newest.json.next ?? '');
      const again = await list(second.json.previous ?? '');
      expect(again.json).toMatchObject({ results: newest.json.results, previous: null });
      const added = await add(own);
      const withNewer = await list(second.json.previous ?? '');
      expect(withNewer.json.results).toEqual(newest.json.results);
      expect((await list(withNewer.json.previous ?? '')).json.results).toEqual([added.json]);
    });

    it('end at the last page', async () => {
      const { ids: walked, last } = await walk(`${eventsPath}?event_type=${type}&page_size=2`, 'next');
      expect(walked).toEqual(ids);
      expect(last.next).toBeNull();
      expect(last.previous).not.toBeNull();
    });
  });

  describe('cursor', () => {
    const type = uniqueType('cursor');
    let cursor: string;

    beforeAll(async () => {
      await fill(type, 3);
      const { json } = await list(`${eventsPath}?event_type=${type}&page_size=1`);
      cursor = new URL(json.next ?? '').searchParams.get('cursor') ?? '';
    });

    const expectRefused = async (query: string): Promise<void> => {
      const { status, json } = await stack.request<Problem>('GET', `${eventsPath}?${query}`);
      expect({ status, errors: json.errors }).toEqual({
        status: 400,
        errors: { cursor: [expect.any(String)] },
      });
    };

    it('is valid for the list that it came from', async () => {
      const { status, json } = await list(`${eventsPath}?cursor=${cursor}&event_type=${type}`);
      expect(status).toBe(200);
      expect(json.results).toHaveLength(2);
    });

    it.each(['x', '0', '%00', '..', '%F0%9F%98%80', 'x'.repeat(2_000), 'bnVsbA'])(
      'is rejected when it is "%s"',
      (text) => expectRefused(`event_type=${type}&cursor=${text}`),
    );

    it('is rejected when it was cut, lengthened, or created by another version', async () => {
      const other = Buffer.from(cursor, 'base64url');
      other[0] = 99;
      for (const broken of [cursor.slice(0, -1), cursor.slice(4), `${cursor}A`, other.toString('base64url')])
        await expectRefused(`event_type=${type}&cursor=${broken}`);
    });

    it('is rejected when it belongs to other filters', async () => {
      await expectRefused(`cursor=${cursor}`);
      await expectRefused(`event_type=raid&cursor=${cursor}`);
      await expectRefused(`event_type=${type}&user_id=1&cursor=${cursor}`);
      await expectRefused(`event_type=${type}&since=2026-01-01&cursor=${cursor}`);
      await expectRefused(`user_id=${type}&cursor=${cursor}`);
    });
  });
});
