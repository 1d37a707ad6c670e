import {
  compileConditions,
  readEventColumns,
  toLimitConditions,
  type EventFilters,
  type ListPosition,
  type NewEvent,
  type ReadLimits,
  type StreamSummaryMessage,
} from '@stream-events/contracts';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../test/event-store.js';
import { newEvent } from '../test/new-event.js';
import { computeReferenceSummary } from '../test/reference-summary.js';
import { EventExportService } from './event-export/event-export.service.js';
import type { EventListPage } from './event-list/event-list.repository.js';
import { RetentionRepository } from './retention/retention.repository.js';
import { RetentionPolicy } from './store/retention-policy.js';
import { KeptEvents } from './stream-summaries/kept-events.js';
import { SavedSummaries } from './stream-summaries/saved-summaries.repository.js';
import { StreamSummaries } from './stream-summaries/stream-summaries.service.js';
import { SummariesRepository } from './stream-summaries/summaries.repository.js';

let store: EventStore;
let exports: EventExportService;
let summaries: StreamSummaries;
beforeAll(async () => {
  store = await EventStore.create();
  // The reference summary is never partial. The service's summary is complete only if the partition of `beginning` exists, even if
  // that partition is empty.
  await store.partitions.ensureAhead(beginning);
  exports = new EventExportService(store.list);
  summaries = new StreamSummaries(
    new SummariesRepository(store.dataSource),
    new SavedSummaries(store.dataSource, store.changes),
    store.changes,
    new KeptEvents(store.partitions, RetentionPolicy.forever, new RetentionRepository(store.dataSource)),
  );
});
afterAll(() => store.close());

// The times cross a month boundary, so the events lie in two partitions.
const beginning = Date.UTC(2025, 1, 1) - 10;

const type = fc.constantFrom('raid', 'channel-raid', 'channel-follow', 'channel-cheer');
const channel = fc.constantFrom('c1', 'c2', 'c3', 'C1');

const anyEvents = fc
  .array(
    fc.record({
      at: fc.integer({ min: beginning, max: beginning + 20 }),
      eventType: type,
      origin: fc.constantFrom('platform' as const, 'platform' as const, 'test' as const),
      of: fc.option(channel),
      from: channel,
      to: channel,
    }),
    { maxLength: 40 },
  )
  .map((all) =>
    all.map(({ at, eventType, origin, of, from, to }) => {
      // Leave out the event id of platform raids: the store would merge two messages with raids between the same channels into one event.
      const eventId = origin === 'test' || !eventType.endsWith('raid') ? v7() : null;
      const data = {
        ...{ user_id: 'u', bits: 5, viewers: 7, from_broadcaster_user_id: from, to_broadcaster_user_id: to },
        ...(of !== null && { broadcaster_user_id: of }),
        // The reference summary reads these names from every raid.
        ...{ from_broadcaster_user_name: from, to_broadcaster_user_name: to },
      };
      return newEvent({ id: v7({ msecs: at }), eventType, origin, eventId, eventData: JSON.stringify(data) });
    }),
  );

/** Generates lists of values, some with duplicates, and some so long that looking up each value would be slow. */
const listOf = (value: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc
    .record({ some: fc.array(value, { maxLength: 4 }), others: fc.constantFrom(0, 0, 30, 90) })
    .map(({ some, others }) => [...some, ...Array.from({ length: others }, (_, n) => `other-${n}`)]);
const anyLimits = fc.record({ eventTypes: listOf(type), channelIds: listOf(channel) }, { requiredKeys: [] });
const anyFilters = fc.record(
  { eventTypes: fc.array(type, { maxLength: 3 }), channelId: channel, broadcasterUserId: channel, userId: fc.constant('u') }, // prettier-ignore
  { requiredKeys: [] },
);

/** Whether a reader may see an event: a second, deliberately simple implementation. */
function isWithin({ eventTypes, channelIds }: ReadLimits, { eventType, eventData }: NewEvent): boolean {
  const channels = channelsOf(eventType, eventData);
  return (
    (!eventTypes || eventTypes.includes(eventType)) &&
    (!channelIds || channelIds.some((id) => channels.includes(id)))
  );
}

function channelsOf(eventType: string, eventData: string): unknown[] {
  const data = JSON.parse(eventData) as Record<string, unknown>; // Safe cast: the test writes objects.
  const ofRaid = [data.from_broadcaster_user_id, data.to_broadcaster_user_id];
  return [data.broadcaster_user_id, ...(eventType === 'channel-raid' || eventType === 'raid' ? ofRaid : [])];
}

function matches({ eventTypes = [], channelId, broadcasterUserId }: EventFilters, event: NewEvent): boolean {
  const channels = channelsOf(event.eventType, event.eventData);
  return (
    (eventTypes.length === 0 || eventTypes.includes(event.eventType)) &&
    (!channelId || channels.includes(channelId)) &&
    (!broadcasterUserId || channels[0] === broadcasterUserId)
  );
}

/** Follows `next` or `previous` to the end of the list. Returns all ids, newest first, and the last page. */
async function walk(
  read: (position: ListPosition | undefined) => Promise<EventListPage>,
  along: 'next' | 'previous',
  from?: ListPosition,
): Promise<{ ids: string[]; last: EventListPage }> {
  const pages: string[][] = [];
  for (let position = from; ;) {
    const page = await read(position);
    pages.push(page.events.map(({ id }) => id));
    const further = page[along];
    if (!further) return { ids: (along === 'next' ? pages : pages.reverse()).flat(), last: page };
    position = further;
  }
}

/** Returns an export as CSV lines, because the record of a test event has no id to compare. */
async function exportTexts(limits: ReadLimits): Promise<string[]> {
  const texts: string[] = [];
  let after: string | null | undefined;
  do {
    const page = await exports.read({ filters: {}, limits, format: 'csv', ...(after && { after }) });
    texts.push(Buffer.from(page.bytes).toString());
    after = page.next;
  } while (after);
  return texts.join('').split('\r\n').slice(1, -1); // prettier-ignore
}

const stream = { streamId: v7(), channelId: 'c1', startedAt: beginning, endedAt: beginning + 20 };

function reference(events: readonly NewEvent[]): StreamSummaryMessage {
  return computeReferenceSummary(events, { channelId: 'c1', from: beginning, to: beginning + 20 });
}

/** Ignores the order of types, because types with equally many events have no fixed order. */
function withoutOrder(summary: StreamSummaryMessage): object {
  return { ...summary, eventTypes: new Set(summary.eventTypes) };
}

describe('the limits of a reader', () => {
  it('hide the same events from the list, by id, in exports, in summaries, and live', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          events: anyEvents,
          limits: anyLimits,
          filters: anyFilters,
          pageSize: fc.integer({ min: 1, max: 7 }),
          // Without indexes, a list checks all rows in order. A clock that advances 20 ms at each reading makes pages end early.
          hasIndexes: fc.boolean(),
          clockStep: fc.constantFrom(0, 20),
        }),
        async ({ events, limits, filters, pageSize, hasIndexes, clockStep }) => {
          await store.clear();
          if (events.length > 0) await store.writer.store(events);
          store.indexes = { isReady: () => hasIndexes };
          store.pageClockStep = clockStep;
          const visible = events.filter((event) => isWithin(limits, event));

          const expected = visible.filter((event) => matches(filters, event)).map(({ id }) => id).sort().reverse(); // prettier-ignore
          const read = (position: ListPosition | undefined): Promise<EventListPage> =>
            store.list.list({ filters, limits, pageSize, ...(position && { position }) });
          const forwards = await walk(read, 'next');
          expect(forwards.ids).toEqual(expected);
          const back = forwards.last.previous && (await walk(read, 'previous', forwards.last.previous));
          expect(back?.ids ?? []).toEqual(expected.slice(0, expected.length - forwards.last.events.length));

          for (const event of events) {
            const found = visible.includes(event) ? event.id : undefined;
            expect((await store.list.find(event.id, limits))?.id).toBe(found);
            if (event.eventId) expect((await store.list.find(event.eventId, limits))?.id).toBe(found);
            const isVisibleLive = compileConditions(toLimitConditions(limits))({
              ...event,
              ...readEventColumns(event.eventType, event.eventData),
            });
            expect(isVisibleLive).toBe(found !== undefined);
          }

          store.pageClockStep = 0;
          const exported = await exportTexts(limits);
          expect(exported).toHaveLength(visible.length);
          for (const { id, eventId } of visible)
            expect(exported.filter((line) => line.includes(eventId ?? id))).toHaveLength(1);

          // A summary within limits must not change the saved summary for readers without limits.
          for (const [given, counted] of [
            [{}, events],
            [limits, visible],
            [{}, events],
          ] as const)
            expect(withoutOrder(await summaries.summarize({ ...stream, limits: given }))).toEqual(withoutOrder(reference(counted))); // prettier-ignore
          expect(await store.count('stream_summaries')).toBe(1);
        },
      ),
      { numRuns: 60 },
    );
  }, 300_000);

  it('hide an event even if its event_id is asked for and another event has the same one', async () => {
    await store.clear();
    const [older, newer] = ['channel-follow', 'channel-cheer'].map((eventType, n) =>
      newEvent({ id: v7({ msecs: beginning + n }), eventType, eventId: 'again' }),
    );
    if (!older || !newer) throw new Error('there are two');
    await store.writer.store([older]);
    // The service forgets message ids after 25 hours.
    await store.dataSource.query('TRUNCATE received_messages');
    await store.writer.store([newer]);

    expect((await store.list.find('again', {}))?.id).toBe(newer.id);
    expect((await store.list.find('again', { eventTypes: ['channel-follow'] }))?.id).toBe(older.id);
    expect(await store.list.find('again', { eventTypes: ['channel-raid'] })).toBeNull();
  });
});
