import { jest } from '@jest/globals';
import {
  listEvents,
  listEventsFormat,
  printEventRecord,
  type EventFilters,
  type ListPosition,
  type NewEvent,
} from '@stream-events/contracts';
import { parseRequest } from '@stream-events/messaging';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import type { EventListPage } from './event-list.repository.js';

// The tests store up to 20,000 events, and read them page by page.
jest.setTimeout(180_000);

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

const messageLimit = 1024 * 1024;
const beginning = Date.UTC(2025, 5, 15);

/** Reads all pages from the newest event on, or backwards from `from`. Checks that each reply fits into a NATS message. */
async function readPages(filters: EventFilters, along: 'next' | 'previous', from?: EventListPage) {
  const pages: EventListPage[] = [];
  let position = from?.[along] ?? undefined;
  do {
    const request = parseRequest(listEvents, {
      filters,
      limits: {},
      pageSize: 100,
      ...(position && { position }),
    });
    const page = await store.list.list(request);
    const sent = listEventsFormat.print({ ...page, records: Buffer.alloc(0) });
    expect(sent.length).toBeLessThan(messageLimit);
    pages.push(page);
    position = page[along] ?? undefined;
  } while (position);
  return pages;
}

function idsOf(pages: readonly EventListPage[]): string[] {
  return pages.flatMap((page) => page.events.map((event) => event.id));
}

async function storeAll(events: readonly NewEvent[]): Promise<void> {
  for (let at = 0; at < events.length; at += 10) await store.writer.store(events.slice(at, at + 10));
}

describe('the byte budget of a page', () => {
  const quotes = JSON.stringify({ text: '"'.repeat(50 * 1024) });
  const plain = JSON.stringify({ text: 'é'.repeat(100 * 1024) });

  it.each([
    ['200 KiB events', plain],
    ['100 KiB events that double in size in a message', quotes],
  ])(
    'shortens pages, with a next page each, and paging visits all 100: %s',
    async (_, eventData) => {
      const events = Array.from({ length: 100 }, (_, n) =>
        newEvent({ id: v7({ msecs: beginning + n }), eventData }),
      );
      await storeAll(events);
      const newestFirst = events.map((event) => event.id).reverse();

      const pages = await readPages({}, 'next');
      expect(idsOf(pages)).toEqual(newestFirst);
      expect(pages.slice(0, -1).every((page) => page.events.length > 0 && page.events.length < 100)).toBe(
        true,
      );

      const lastPage = pages.at(-1);
      const back = await readPages({}, 'previous', lastPage);
      const before = newestFirst.slice(0, -(lastPage?.events.length ?? 0));
      expect(idsOf(back.reverse())).toEqual(before);
    },
    // Reads 200 pages with 20 MB of events in total, and each page checks all remaining events. The test takes 15 s on an idle machine.
    400_000,
  );

  it('keeps replies within a message when the names grow as much as JSON allows', async () => {
    // JSON escapes this control character as six bytes.
    const name = '\u0001'.repeat(255);
    const events = Array.from({ length: 110 }, (_, n) =>
      newEvent({
        id: v7({ msecs: beginning + n }),
        eventId: `${n}${name}`.slice(0, 255),
        eventType: name,
        eventSource: '\u0001'.repeat(32),
        eventData: JSON.stringify({ text: '"'.repeat(1_900) }),
      }),
    );
    await storeAll(events);

    expect(idsOf(await readPages({}, 'next'))).toHaveLength(110);
  });

  it('returns an event that is larger than the budget on its own page', async () => {
    const text = (length: number) => JSON.stringify({ text: 'a'.repeat(length) });
    const events = [10, 500 * 1024, 600 * 1024, 10].map((length, n) =>
      newEvent({ id: v7({ msecs: beginning + n }), eventData: text(length) }),
    );
    await storeAll(events);

    const pages = await readPages({}, 'next');

    expect(pages.map((page) => page.events.length)).toEqual([1, 1, 1, 1]);
    expect(idsOf(pages)).toEqual(events.map((event) => event.id).reverse());
  });
});

describe('the time budget of a page', () => {
  // The planner has no statistics for these values, so each page reads its first 1,500 rows before it notices that it is late.
  const filters = { eventType: 'channel-raid', origin: 'platform' } as const;

  beforeEach(() => {
    store.pageClockStep = 31;
  });
  afterEach(() => {
    store.pageClockStep = 0;
  });

  /** Stores `count` events. Only the events with the numbers in `matching` match, counted from the oldest. */
  function generate(count: number, matching: readonly number[]): Promise<void> {
    return store.generate(count, beginning, {
      event_type: "'channel-raid'",
      origin: `CASE WHEN n = ANY ('{${matching.join(',')}}'::int[]) THEN 'platform' ELSE 'test' END`,
    });
  }

  /** In each of three months, stores one event of the user `seldom` and one of another user. Returns the events of `seldom`. */
  async function storeMonths(): Promise<NewEvent[]> {
    const months = [Date.UTC(2025, 1, 20), Date.UTC(2025, 2, 20), Date.UTC(2025, 3, 20)];
    const events = months.map((msecs) => newEvent({ id: v7({ msecs }), eventData: '{"user_id":"seldom"}' }));
    const others = months.map((msecs) => newEvent({ id: v7({ msecs: msecs + 1 }) }));
    await store.writer.store([...events, ...others]);
    return events;
  }

  it('ends a page early, even an empty one, with a next page, and paging finds all matches', async () => {
    const matching = [1, 2, 4_999, 5_000, 5_001, 9_000, 9_001, 10_000, 12_000, 12_001, 15_000];
    await generate(15_000, matching);

    const pages = await readPages(filters, 'next');

    expect(idsOf(pages)).toHaveLength(matching.length);
    expect(new Set(idsOf(pages)).size).toBe(matching.length);
    // The tenth page ends exactly at the last event, so only the eleventh shows that no more follow.
    expect(pages).toHaveLength(11);
    const back = await readPages(filters, 'previous', pages.at(-1));
    const lastIds = pages.at(-1)?.events.map((event) => event.id) ?? [];
    expect(idsOf(back.reverse())).toEqual(idsOf(pages).filter((id) => !lastIds.includes(id)));
  });

  it.each([
    [1_499, 1],
    [1_500, 2],
    [1_501, 2],
    [3_000, 3],
  ])(
    'returns empty pages with a next page, then the end, when none of %i events matches',
    async (count, expected) => {
      await generate(count, []);

      const pages = await readPages(filters, 'next');

      expect(pages.map((page) => [page.events.length, page.next !== null])).toEqual(
        Array.from({ length: expected }, (_, index) => [0, index < expected - 1]),
      );
    },
  );

  it('checks more rows with the next statement while there is time', async () => {
    store.pageClockStep = 0;
    await generate(20_000, [1]);

    expect(idsOf(await readPages(filters, 'next'))).toHaveLength(1);
    expect((await store.list.list({ filters, limits: {}, pageSize: 10 })).next).toBeNull();
  });

  it("pages back from an empty page to the event at which the previous page's budget ended", async () => {
    // Event 1,001 is the 1,500th, counted from the newest.
    await generate(2_500, [1_001]);

    const pages = await readPages(filters, 'next');
    expect(pages.map((page) => page.events.length)).toEqual([1, 0]);

    const back = await readPages(filters, 'previous', pages[1]);
    expect(idsOf(back)).toEqual(idsOf(pages));
  });

  it('continues with events that arrive after an empty page', async () => {
    await generate(2_000, []);
    const first = await store.list.list({ filters, limits: {}, pageSize: 100 });
    expect(first.events).toEqual([]);
    expect(first.next).not.toBeNull();
    const last = await store.list.list({
      filters,
      limits: {},
      pageSize: 100,
      ...(first.next && { position: first.next }),
    });
    expect(last).toMatchObject({ events: [], next: null });
    const late = newEvent({ id: v7({ msecs: beginning + 60_000 }), eventType: 'channel-raid' });
    await store.writer.store([late]);

    const back = await readPages(filters, 'previous', last);

    expect(idsOf(back)).toEqual([late.id]);
  });

  it('names no event in the position of the next page that the page does not contain', async () => {
    await generate(10_000, [9_000]);
    const ids = new Set(await store.storedIds());

    const pages = await readPages(filters, 'next');
    const back = await readPages(filters, 'previous', pages.at(-1));

    const positions = [...pages, ...back].flatMap(({ next, previous }) => [next, previous]);
    const named = positions.flatMap((position) => (position && ids.has(position.id) ? [position.id] : []));
    expect(positions.filter((position) => position !== null).length).toBeGreaterThan(6);
    expect(new Set(named)).toEqual(new Set(idsOf(pages)));
  });

  it('permits a page that checks no rows a second, so that it can be empty only on an overloaded database', async () => {
    await storeMonths();

    const pages = await readPages({ userId: 'seldom' }, 'next');

    expect(pages.map((page) => page.events.length)).toEqual([3]);
  });

  it('ends an empty page between two months, and visits every event on both sides once', async () => {
    store.pageClockStep = 1_001;
    const events = await storeMonths();

    const pages = await readPages({ userId: 'seldom' }, 'next');
    const back = await readPages({ userId: 'seldom' }, 'previous', pages.at(-1));

    expect(pages.length).toBeGreaterThan(2);
    expect(idsOf(pages)).toEqual(events.map(({ id }) => id).reverse());
    const lastIds = pages.at(-1)?.events.map(({ id }) => id) ?? [];
    expect(idsOf(back.reverse())).toEqual(idsOf(pages).filter((id) => !lastIds.includes(id)));
  });
});

describe('the byte budget of a page of records', () => {
  const messageBudget = messageLimit - 4_096;

  it.each([
    ['of large events', { eventData: JSON.stringify({ text: '"'.repeat(100 * 1024) }) }],
    [
      // JSON escapes this control character as six bytes.
      'of events with long names',
      {
        eventType: '\u0001'.repeat(255),
        eventSource: '\u0001'.repeat(32),
        eventData: JSON.stringify({ text: 'a'.repeat(9_000) }),
      },
    ],
  ])('fills pages up to the size of a message, and paging visits all: %s', async (_, overrides) => {
    const events = Array.from({ length: 100 }, (_, n) =>
      newEvent({ ...overrides, id: v7({ msecs: beginning + n }) }),
    );
    await storeAll(events);

    const records: string[] = [];
    const sizes: number[] = [];
    let position: ListPosition | undefined;
    do {
      const page = await store.list.listRecords({
        filters: {},
        limits: {},
        pageSize: 100,
        ...(position && { position }),
      });
      sizes.push(listEventsFormat.print({ events: [], ...page }).length);
      const text = Buffer.from(page.records).toString();
      expect(text).toBe(
        `[${(JSON.parse(text) as { id: string }[]).map(({ id }) => printOf(events, id)).join(',')}]`,
      );
      records.push(...(JSON.parse(text) as { id: string }[]).map(({ id }) => id));
      position = page.next ?? undefined;
    } while (position);

    expect(records).toEqual(events.map(({ id }) => id).reverse());
    expect(Math.max(...sizes)).toBeLessThan(messageBudget);
    expect(Math.max(...sizes)).toBeGreaterThan(messageBudget / 2);
  });

  function printOf(events: readonly NewEvent[], id: string): string {
    const event = events.find((candidate) => candidate.id === id);
    return event ? printEventRecord(event) : '';
  }
});
