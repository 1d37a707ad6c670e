import { listEvents, type EventFilters, type ListEventsReply, type NewEvent } from '@stream-events/contracts';
import { parseRequest } from '@stream-events/messaging';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

const messageLimit = 1024 * 1024;
const beginning = Date.UTC(2025, 5, 15);

/**
 * Reads all pages, starting with the newest event, or backwards from the last page. Checks that each reply fits into a NATS
 * message.
 */
async function readPages(filters: EventFilters, along: 'next' | 'previous', from?: ListEventsReply) {
  const pages: ListEventsReply[] = [];
  let position = from?.[along] ?? undefined;
  do {
    const request = parseRequest(listEvents, { filters, pageSize: 100, ...(position && { position }) });
    const page = await store.list.list(request);
    // Nest sends the reply in an envelope.
    const sent = JSON.stringify({ id: 'a'.repeat(40), response: page, isDisposed: true });
    expect(Buffer.byteLength(sent)).toBeLessThan(messageLimit);
    pages.push(page);
    position = page[along] ?? undefined;
  } while (position);
  return pages;
}

function idsOf(pages: readonly ListEventsReply[]): string[] {
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
    // 200 pages read 20 MB of events, and each page reads all remaining events. That takes 15 s on an idle machine.
    150_000,
  );

  it('keeps replies within a message when the names grow as much as JSON allows', async () => {
    // Control characters become six bytes each.
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

describe('the row budget of a page', () => {
  const filters = { eventType: 'channel-raid', eventSource: 'rare' };

  it('ends a page early, even an empty one, with a next page, and paging finds all matches', async () => {
    // 25,000 events of the type. The rare source is at both ends, in the middle, and next to the ends of the budget.
    const rare = [1, 2, 4_999, 5_000, 5_001, 12_500, 14_999, 15_000, 15_001, 25_000];
    await store.generate(25_000, beginning, {
      event_type: "'channel-raid'",
      event_source: `CASE WHEN n IN (${rare.join(', ')}) THEN 'rare' ELSE 'PlatformSub' END`,
    });

    const pages = await readPages(filters, 'next');

    expect(idsOf(pages)).toHaveLength(rare.length);
    expect(new Set(idsOf(pages)).size).toBe(rare.length);
    expect(pages.length).toBeGreaterThan(1);
    const back = await readPages(filters, 'previous', pages.at(-1));
    const lastIds = pages.at(-1)?.events.map((event) => event.id) ?? [];
    expect(idsOf(back.reverse())).toEqual(idsOf(pages).filter((id) => !lastIds.includes(id)));
  });

  it.each([
    [9_999, 1],
    [10_000, 2],
    [10_001, 2],
    [20_000, 3],
  ])(
    'returns empty pages with a next page, then the end, when none of %i events matches',
    async (count, expected) => {
      await store.generate(count, beginning, { event_type: "'channel-raid'" });

      const pages = await readPages(filters, 'next');

      expect(pages.map((page) => [page.events.length, page.next !== null])).toEqual(
        Array.from({ length: expected }, (_, index) => [0, index < expected - 1]),
      );
    },
  );

  it("pages back from an empty page to the event at which the previous page's budget ended", async () => {
    // Counted from the newest event, number 2,001 is the 10,000th.
    await store.generate(12_000, beginning, {
      event_type: "'channel-raid'",
      event_source: "CASE n WHEN 2001 THEN 'rare' ELSE 'PlatformSub' END",
    });

    const pages = await readPages(filters, 'next');
    expect(pages.map((page) => page.events.length)).toEqual([1, 0]);

    const back = await readPages(filters, 'previous', pages[1]);
    expect(idsOf(back)).toEqual(idsOf(pages));
  });

  it('continues with events that arrive after an empty page', async () => {
    await store.generate(12_000, beginning, { event_type: "'channel-raid'" });
    const first = await store.list.list({ filters, pageSize: 10 });
    expect(first.events).toEqual([]);
    expect(first.next).not.toBeNull();
    const last = await store.list.list({
      filters,
      pageSize: 10,
      ...(first.next && { position: first.next }),
    });
    expect(last).toMatchObject({ events: [], next: null });
    const late = newEvent({
      id: v7({ msecs: beginning + 60_000 }),
      eventType: 'channel-raid',
      eventSource: 'rare',
    });
    await store.writer.store([late]);

    const back = await readPages(filters, 'previous', last);

    expect(idsOf(back)).toEqual([late.id]);
  });
});
