import { randomUUID } from 'node:crypto';
import { eventsPath, newEvent, uniqueType, type EventRecord } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

const exportPath = `${eventsPath}/export`;

describe('the export of events', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

  async function exportText(query: Record<string, string>): Promise<string> {
    const { status, text } = await stack.request(
      'GET',
      `${exportPath}?${new URLSearchParams(query).toString()}`,
    );
    expect(status).toBe(200);
    return text;
  }

  async function exportRecords(query: Record<string, string>): Promise<EventRecord[]> {
    const text = await exportText(query);
    return text.split('\n').flatMap((line) => (line.trim() ? [JSON.parse(line) as EventRecord] : [])); // Safe cast: tests compare the records.
  }

  /** Stores events of a unique type, oldest first. Every fifth is a test event. */
  async function store(count: number): Promise<{ type: string; ids: string[] }> {
    const type = uniqueType();
    const time = Date.now() - count;
    const events = Array.from({ length: count }, (_, index) => {
      const isTest = index % 5 === 4;
      return newEvent({
        ...{
          time: time + index,
          eventType: type,
          eventData: JSON.stringify({ text: `größer\n${index}`, user_id: `${index % 2}` }),
        },
        ...(isTest && { origin: 'test' as const, eventId: randomUUID() }),
      });
    });
    for (let begin = 0; begin < count; begin += 250)
      await stack.storeEvents(events.slice(begin, begin + 250));
    return { type, ids: events.map(({ id, eventId }) => eventId ?? id) };
  }

  it('starts a CSV file with a byte order mark if asked to', async () => {
    const { type } = await store(1);
    const read = async (query: string): Promise<Buffer> => {
      const response = await fetch(`${stack.nextUrl}${exportPath}?event_type=${type}&${query}`, {
        headers: { authorization: `Token ${stack.ownerToken}` },
      });
      return Buffer.from(await response.arrayBuffer());
    };
    const plain = await read('format=csv');
    expect(await read('format=csv&bom=true')).toEqual(Buffer.concat([Buffer.from('\ufeff'), plain]));
    expect((await read('bom=true')).toString()).toMatch(/^\{/);
    const { status } = await stack.request('GET', `${exportPath}?bom=yes`);
    expect(status).toBe(400);
  });

  const keyOf = ({ id, event_id }: EventRecord): string | null => id ?? event_id;

  it('has the records of the list, oldest first', async () => {
    const { type, ids } = await store(1_200);

    const records = await exportRecords({ event_type: type });

    expect(records.map(keyOf)).toEqual(ids);
    const { json } = await stack.request<{ results: EventRecord[] }>(
      'GET',
      `${eventsPath}?event_type=${type}`,
    );
    const newest = records.slice(-json.results.length).reverse();
    expect(newest).toEqual(
      json.results.map((record) => ({
        ...record,
        created: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      })),
    );
    const toSecond = ({ created }: EventRecord): string => created.slice(0, 19);
    expect(newest.map(toSecond)).toEqual(json.results.map(toSecond));
    expect((await exportRecords({ event_type: type, user_id: '1', origin: 'test' })).map(keyOf)).toEqual(
      ids.filter((_, index) => index % 5 === 4 && index % 2 === 1),
    );
  });

  it('continues after the id of an event, or the event_id of a test event', async () => {
    const { type, ids } = await store(10);

    for (const [index, id] of ids.entries())
      expect((await exportRecords({ event_type: type, after: id })).map(keyOf)).toEqual(ids.slice(index + 1));
  });

  it.each([
    ['ndjson', 'application/x-ndjson; charset=utf-8', 'attachment; filename="events.ndjson"'],
    ['csv', 'text/csv; charset=utf-8', 'attachment; filename="events.csv"'],
  ])('is a %s file, also for HEAD', async (format, type, disposition) => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers, text } = await stack.request(
        method,
        `${exportPath}/?format=${format}&event_type=none`,
      );
      expect(status).toBe(200);
      expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([type, disposition]);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(text === '').toBe(method === 'HEAD' || format === 'ndjson');
    }
  });

  it('neutralizes formulas in CSV, and only there', async () => {
    const type = `=cmd|${uniqueType()}`;
    await stack.storeEvents([newEvent({ eventType: type, eventSource: '@source', eventData: '{"a":"=1"}' })]);

    expect(await exportText({ format: 'csv', event_type: type })).toContain(`,'${type},'@source,`);
    expect(await exportRecords({ event_type: type })).toMatchObject([
      { event_type: type, event_source: '@source' },
    ]);
  });
});
