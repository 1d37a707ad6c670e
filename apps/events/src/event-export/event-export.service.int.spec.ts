import type { EventFilters, ExportFormat, NewEvent } from '@stream-events/contracts';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { EventExportService } from './event-export.service.js';

let store: EventStore;
let exports: EventExportService;
beforeAll(async () => {
  store = await EventStore.create();
  exports = new EventExportService(store.list);
});
afterAll(() => store.close());
beforeEach(() => store.clear());

interface Part {
  text: string;
  count: number;
  bytes: number;
}

/** Reads all pages of an export. */
async function readParts(
  filters: EventFilters = {},
  format: ExportFormat = 'ndjson',
  from?: string,
): Promise<Part[]> {
  const parts: Part[] = [];
  let after: string | null | undefined = from;
  do {
    const { bytes, count, next } = await exports.read({
      filters,
      limits: {},
      format,
      ...(after && { after }),
    });
    parts.push({ text: Buffer.from(bytes).toString(), count, bytes: bytes.length });
    after = next;
  } while (after !== null);
  return parts;
}

function idsIn(parts: readonly Part[]): string[] {
  const lines = parts.flatMap(({ text }) => text.split('\n').filter((line) => line !== ''));
  return lines.map((line) => (JSON.parse(line) as { id: string }).id); // Safe cast: each line of an export is a record.
}

/** Stores events on both sides of a month boundary. Some of them share a millisecond. */
async function storeEvents(
  count: number,
  overrides: (index: number) => Partial<NewEvent> = () => ({}),
): Promise<NewEvent[]> {
  const beginning = Date.UTC(2025, 1, 1) - count / 4;
  const events = Array.from({ length: count }, (_, index) =>
    newEvent({ id: v7({ msecs: Math.floor(beginning + index / 2) }), ...overrides(index) }),
  );
  await store.writer.store(events);
  return events.sort((one, other) => (one.id < other.id ? -1 : 1));
}

describe(EventExportService.name, () => {
  it('exports every event once, oldest first, in pages of 200', async () => {
    const events = await storeEvents(2_500);

    const parts = await readParts();

    expect(idsIn(parts)).toEqual(events.map(({ id }) => id));
    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(2_500);
    expect(Math.max(...parts.map(({ count }) => count))).toBe(200);
  });

  it('continues after any event', async () => {
    const ids = (await storeEvents(50)).map(({ id }) => id);

    for (const [index, id] of ids.entries())
      expect(idsIn(await readParts({}, 'ndjson', id))).toEqual(ids.slice(index + 1));
  });

  it('exports only events that match the filters', async () => {
    const events = await storeEvents(400, (index) => ({
      eventType: index % 3 === 0 ? 'channel-raid' : 'channel-follow',
      eventSource: index % 2 === 0 ? 'client' : 'PlatformSub',
    }));
    const until = Date.UTC(2025, 1, 1);

    const parts = await readParts({ eventType: 'channel-raid', eventSource: 'client', until });

    const matching = events.filter(
      ({ id, eventType, eventSource }) =>
        eventType === 'channel-raid' &&
        eventSource === 'client' &&
        Number.parseInt(id.replace('-', '').slice(0, 12), 16) < until,
    );
    expect(matching.length).toBeGreaterThan(20);
    expect(idsIn(parts)).toEqual(matching.map(({ id }) => id));
  });

  it('keeps every page below the size of a message, and an event of any size whole', async () => {
    const events = await storeEvents(12, (index) => ({
      eventData: JSON.stringify({ text: '"'.repeat(index % 2 === 0 ? 125_000 : 10) }),
    }));

    const parts = await readParts({}, 'csv');

    expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(12);
    expect(Math.max(...parts.map(({ bytes }) => bytes))).toBeLessThan(1024 * 1024);
    const text = parts.map((part) => part.text).join('');
    for (const { id } of events) expect(text).toContain(`${id},,channel-follow,PlatformSub,`);
    for (const { eventData } of events) expect(text).toContain(`"${eventData.replaceAll('"', '""')}"\r\n`);
  });

  it('begins CSV with the names of the columns, once, and not after an event', async () => {
    const [first] = await storeEvents(1_500);
    const names = /^id,event_id,/gm;

    const whole = (await readParts({}, 'csv')).map(({ text }) => text).join('');
    const rest = (await readParts({}, 'csv', first!.id)).map(({ text }) => text).join('');

    expect([whole.match(names)?.length, whole.indexOf('id,event_id,'), rest.match(names)]).toEqual([
      1,
      0,
      null,
    ]);
  });
});
