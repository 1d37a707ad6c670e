import type {
  EventFilters,
  ListEventsRequest,
  ListPosition,
  NewEvent,
  StoredEvent,
} from '@stream-events/contracts';
import { foldCase, receivedAt } from '@stream-events/contracts';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { EventListRepository, type EventListPage } from './event-list.repository.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());
beforeEach(() => store.clear());

// The times are a few milliseconds apart and cross the end of a month, so that ids share a millisecond and lie in two partitions.
const beginning = Date.UTC(2025, 1, 1) - 10;

const time = fc.integer({ min: beginning, max: beginning + 20 });
const type = fc.constantFrom('raid', 'channel-raid', 'follow');
const source = fc.constantFrom('PlatformSub', 'client');
const user = fc.constantFrom('1', '2', 'A', 'Straße');
const origin = fc.constantFrom('platform' as const, 'test' as const);

const anyEvent = fc
  .record({
    at: time,
    eventType: type,
    eventSource: source,
    origin,
    user,
    broadcaster: user,
    reward: user,
    other: user,
  })
  .map(({ at, eventType, eventSource, origin, ...data }) =>
    newEvent({
      id: v7({ msecs: at }),
      eventType,
      eventSource,
      origin,
      eventId: origin === 'test' ? v7() : null,
      eventData: JSON.stringify({
        user_id: data.user,
        user_name: data.other,
        broadcaster_user_id: data.broadcaster,
        reward: { id: data.reward },
        from_broadcaster_user_id: data.reward,
        from_broadcaster_user_name: data.user,
        to_broadcaster_user_id: data.other,
        to_broadcaster_user_name: data.other,
      }),
    }),
  );

const asked = user.chain((value) => fc.constantFrom(value, value.toUpperCase(), value.toLowerCase(), ''));
const filter = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const anyFilters = fc
  .record({
    eventType: filter(type),
    eventSource: filter(source),
    origin: filter(origin),
    userId: filter(asked),
    userName: filter(asked),
    rewardId: filter(asked),
    raidFrom: filter(asked),
    raidTo: filter(asked),
    broadcasterUserId: filter(user),
    eventTypes: filter(fc.uniqueArray(fc.constantFrom('raid', 'channel-raid', 'follow', 'nothing', 'a\0'))),
    channelId: filter(user),
    since: filter(time),
    until: filter(time),
  })
  .chain((all) => fc.subarray(Object.entries(all), { maxLength: 4 }))
  .map((some) => Object.fromEntries(some.filter(([, value]) => value !== undefined)) as EventFilters);

/** Lists of values, some with so many that the list reads events by id and checks each. */
const listOf = (value: fc.Arbitrary<string>) =>
  fc
    .record({ some: fc.array(value, { minLength: 1, maxLength: 3 }), others: fc.constantFrom(0, 0, 8, 30) })
    .map(({ some, others }) => [...some, ...Array.from({ length: others }, (_, n) => `other-${n}`)]);
const anyLimits = fc.record({ eventTypes: listOf(type), channelIds: listOf(user) }, { requiredKeys: [] });

type Asked = Pick<ListEventsRequest, 'filters' | 'limits'>;
const anyAsked: fc.Arbitrary<Asked> = fc.record({ filters: anyFilters, limits: anyLimits });

/** Computes the expected list, newest first, by a second implementation of the filters and limits. */
function expectedIds(events: readonly NewEvent[], { filters, limits }: Asked): string[] {
  const isAsked = (wanted: string | undefined, value: unknown): boolean =>
    !wanted || (typeof value === 'string' && foldCase(value) === foldCase(wanted));
  const matches = (event: NewEvent): boolean => {
    const data = JSON.parse(event.eventData) as Record<string, unknown> & { reward: { id: string } };
    const isRaid = event.eventType !== 'follow';
    const raidChannels = [data.from_broadcaster_user_id, data.to_broadcaster_user_id];
    const channels = [data.broadcaster_user_id, ...(isRaid ? raidChannels : [])];
    return [
      !filters.eventType || event.eventType === filters.eventType,
      !filters.eventSource || event.eventSource === filters.eventSource,
      !filters.origin || event.origin === filters.origin,
      !filters.broadcasterUserId || data.broadcaster_user_id === filters.broadcasterUserId,
      !filters.eventTypes?.length || filters.eventTypes.includes(event.eventType),
      !filters.channelId || channels.includes(filters.channelId),
      !limits.eventTypes || limits.eventTypes.includes(event.eventType),
      !limits.channelIds || limits.channelIds.some((id) => channels.includes(id)),
      isAsked(filters.userId, data.user_id),
      isAsked(filters.userName, data.user_name),
      isAsked(filters.rewardId, data.reward.id),
      isAsked(filters.raidFrom, isRaid ? data.from_broadcaster_user_name : null),
      isAsked(filters.raidTo, isRaid ? data.to_broadcaster_user_name : null),
      filters.since === undefined || receivedAt(event.id) >= filters.since,
      filters.until === undefined || receivedAt(event.id) < filters.until,
    ].every(Boolean);
  };
  return events.filter(matches).map((event) => event.id).sort().reverse(); // prettier-ignore
}

interface Walk {
  pages: EventListPage[];
  ids: string[];
}

/** Follows `next` (or `previous`) to the end. Calls `between` after each page. */
async function walk(
  asked: Asked,
  pageSizes: readonly number[],
  {
    from,
    along,
    between,
  }: { from?: ListPosition; along: 'next' | 'previous'; between?: () => Promise<void> },
): Promise<Walk> {
  const pages: EventListPage[] = [];
  let position = from;
  do {
    const pageSize = pageSizes[pages.length % pageSizes.length] ?? 50;
    const page: EventListPage = await store.list.list({
      ...asked,
      pageSize,
      ...(position && { position }),
    });
    expect(page.events.length).toBeLessThanOrEqual(pageSize);
    pages.push(page);
    position = page[along] ?? undefined;
    await between?.();
  } while (position && pages.length < 200);
  const ordered = along === 'next' ? pages : [...pages].reverse();
  return { pages, ids: ordered.flatMap((page) => page.events.map((event) => event.id)) };
}

const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 4 });

describe(EventListRepository.name, () => {
  describe('list', () => {
    it('visits each matching event exactly once, forwards and backwards, for any page sizes', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyEvent, { maxLength: 40 }),
          anyAsked,
          sizes,
          async (events, asked, pageSizes) => {
            if (events.length > 0) await store.writer.store(events);
            const expected = expectedIds(events, asked);

            const forwards = await walk(asked, pageSizes, { along: 'next' });
            expect(forwards.ids).toEqual(expected);

            const last = forwards.pages.at(-1);
            if (!last?.previous) return;
            // Paging back starts before the last page and leaves that page out.
            const backwards = await walk(asked, pageSizes, { from: last.previous, along: 'previous' });
            expect(backwards.ids).toEqual(expected.slice(0, expected.length - last.events.length));

            const newest = backwards.pages.at(-1);
            if (!newest?.next) return;
            const again = await walk(asked, pageSizes, { from: newest.next, along: 'next' });
            expect([...newest.events.map((event) => event.id), ...again.ids]).toEqual(expected);
          },
        ),
        { numRuns: 200, plugins: [fc.beforeEach(() => store.clear())] },
      );
    }, 300_000);

    it('keeps pages stable when events arrive in between, and returns the new events when paging back', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(anyEvent, { minLength: 5, maxLength: 30 }),
          anyAsked,
          sizes,
          async (events, given, pageSizes) => {
            const { until: _, ...filters } = given.filters;
            const asked = { ...given, filters };
            await store.writer.store(events);
            const expected = expectedIds(events, asked);
            const arrived: NewEvent[] = [];
            const arrive = async (): Promise<void> => {
              const late = newEvent({ ...events[arrived.length % events.length], id: v7({ msecs: beginning + 1_000 + arrived.length }), eventId: null }); // prettier-ignore
              arrived.push(late);
              await store.writer.store([late]);
            };

            const forwards = await walk(asked, pageSizes, { along: 'next', between: arrive });
            expect(forwards.ids).toEqual(expected);

            const [firstPage] = forwards.pages;
            const topmost = firstPage?.events[0];
            if (!topmost) return;
            const from: ListPosition = { direction: 'newer', id: topmost.id, inclusive: false };
            const backwards = await walk(asked, pageSizes, { from, along: 'previous' });
            expect(backwards.ids).toEqual(expectedIds(arrived, asked));
          },
        ),
        { numRuns: 60, plugins: [fc.beforeEach(() => store.clear())] },
      );
    }, 300_000);

    it('returns to the same pages: the previous page of the second page is the first, and its next page is the second', async () => {
      const events = Array.from({ length: 9 }, (_, n) => newEvent({ id: v7({ msecs: beginning + n }) }));
      await store.writer.store(events);
      const ids = (page: EventListPage): string[] => page.events.map((event) => event.id);
      const list = (position: ListPosition | null) =>
        store.list.list({ filters: {}, limits: {}, pageSize: 3, ...(position && { position }) });

      const first = await list(null);
      const second = await list(first.next);
      const back = await list(second.previous);
      const forth = await list(back.next);

      expect(first.previous).toBeNull();
      expect(ids(back)).toEqual(ids(first));
      expect(back.previous).toBeNull();
      expect(ids(forth)).toEqual(ids(second));
    });

    it('returns an empty last page for text that cannot be stored and for a range that ends before it starts', async () => {
      await store.writer.store([newEvent()]);
      const nothing = { events: [], next: null, previous: null };

      for (const filters of [
        { userName: 'a\0' },
        { eventType: '\ud83c' },
        { since: 5, until: 4 },
        { until: 0 },
      ]) {
        expect(await store.list.list({ filters, limits: {}, pageSize: 5 })).toEqual(nothing);
      }
    });

    it('treats since as inclusive and until as exclusive, to the millisecond', async () => {
      const [before, at] = [beginning - 1, beginning].map((msecs) => newEvent({ id: v7({ msecs }) }));
      if (!before || !at) throw new Error('there are two');
      await store.writer.store([before, at]);

      const since = await store.list.list({ filters: { since: beginning }, limits: {}, pageSize: 5 });
      const until = await store.list.list({ filters: { until: beginning }, limits: {}, pageSize: 5 });

      expect(since.events.map(({ id }) => id)).toEqual([at.id]);
      expect(until.events.map(({ id }) => id)).toEqual([before.id]);
    });
  });

  describe('find', () => {
    it.each<[string, (event: NewEvent) => string, Partial<NewEvent>, boolean]>([
      ['an event by its id', ({ id }) => id, {}, true],
      ['an event by its id in capitals', ({ id }) => id.toUpperCase(), {}, true],
      [
        'a test event by its event_id',
        ({ eventId }) => eventId ?? '',
        { origin: 'test', eventId: v7() },
        true,
      ],
      [
        'a test event by its event_id in capitals',
        ({ eventId }) => (eventId ?? '').toUpperCase(),
        { origin: 'test', eventId: v7() },
        true,
      ],
      ['an event of the platform by its event_id', ({ eventId }) => eventId ?? '', { eventId: v7() }, true],
      [
        'an event by an event_id that is not a UUID',
        ({ eventId }) => eventId ?? '',
        { eventId: 'Ünï code/1 "' },
        true,
      ],
      ['nothing by an event_id whose case differs', () => 'mESSAGE 1', { eventId: 'Message 1' }, false],
      [
        'nothing by an event_id in capitals that is not a UUID',
        () => 'MESSAGE 2',
        { eventId: 'message 2' },
        false,
      ],
      ['nothing by text that cannot be stored', () => 'a\0b', {}, false],
      ['nothing by an unknown id', () => v7(), {}, false],
    ])('finds %s', async (_, idOf, overrides, isFound) => {
      const event = newEvent(overrides);
      await store.writer.store([event]);

      const found: StoredEvent | null = await store.list.find(idOf(event), {});

      expect(found?.id).toBe(isFound ? event.id : undefined);
    });

    it('finds the newest event when a message was redelivered after more than a day', async () => {
      const [older, newer] = [1, 30].map((hours) =>
        newEvent({ id: v7({ msecs: Date.UTC(2024, 5, 1, hours) }), eventId: 'again' }),
      );
      if (!older || !newer) throw new Error('there are two');
      await store.writer.store([older]);
      await store.dataSource.query('TRUNCATE received_messages');
      await store.writer.store([newer]);

      expect(await store.list.find('again', {})).toMatchObject({ id: newer.id });
    });

    it('prefers a match on id over a match on event_id', async () => {
      const event = newEvent();
      await store.writer.store([event, newEvent({ eventId: event.id })]);

      expect(await store.list.find(event.id, {})).toMatchObject({ id: event.id });
    });

    it('returns when the event happened, or null when the platform did not report it', async () => {
      const known = newEvent({ occurredAt: 1_764_000_000_123 });
      const unknown = newEvent();
      await store.writer.store([known, unknown]);

      expect(await store.list.find(known.id, {})).toMatchObject({ occurredAt: 1_764_000_000_123 });
      expect(await store.list.find(unknown.id, {})).toMatchObject({ occurredAt: null });
    });
  });
});
