import { storeEventBatch, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import { eventsPath, newEvent, uniqueType, type EventPage } from './api.js';
import { startLimitMs, startStack, type Stack } from './stack.js';

interface DeadLetter {
  key: string;
  event_id: string;
  message: Buffer;
  sql_state: string;
  reason: string;
}

describe('an event that the database rejects', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack();
  }, startLimitMs);

  afterAll(() => stack.stop());

  const store = (events: NewEvent[]): Promise<StoreOutcome[]> => stack.storeEvents(events);

  const listed = async (type: string): Promise<(string | null)[]> =>
    (await stack.request<EventPage>('GET', `${eventsPath}?event_type=${type}`)).json.results.map(
      ({ id }) => id,
    );

  const deadLetters = (ids: string[]): Promise<DeadLetter[]> =>
    stack.query<DeadLetter & Record<string, unknown>>(
      'SELECT * FROM events.dead_letters WHERE event_id = ANY($1::uuid[]) ORDER BY event_id',
      [ids],
    );

  /** Returns twenty events. The events at `places` have `eventData`. */
  const batch = (eventType: string, eventData: string, places: number[]): NewEvent[] =>
    Array.from({ length: 20 }, (_, index) =>
      newEvent({ eventType, ...(places.includes(index) && { eventData }) }),
    );

  it.each([
    ['is invalid JSON', '{"a":', '22P02', [7]],
    ['is empty', '', '22P02', [0]],
    ['is a JSON array', '[]', '23514', [19]],
    ['contains a NUL character', '{"a":"\0"}', '22021', [3]],
    ['is an array 100,000 levels deep', '['.repeat(100_000) + ']'.repeat(100_000), '54001', [10]],
    ['is an object 50,000 levels deep', '{"a":'.repeat(50_000) + '0' + '}'.repeat(50_000), '54001', [10]],
    ['is invalid JSON, in several places', 'NaN', '22P02', [0, 1, 9, 18, 19]],
  ])(
    'becomes a dead letter without affecting its batch when its data %s',
    async (_, eventData, sqlState, places) => {
      const type = uniqueType('refused');
      const events = batch(type, eventData, places);
      const bad = events.filter((_, index) => places.includes(index)).map(({ id }) => id);
      const good = events.map(({ id }) => id).filter((id) => !bad.includes(id));

      const outcomes = await store(events);
      expect(outcomes).toEqual(
        events.map(({ id }) => ({ id, outcome: bad.includes(id) ? 'dead_lettered' : 'stored' })),
      );
      expect(await listed(type)).toEqual([...good].sort().reverse());
      const rows = await deadLetters(bad);
      expect(rows.map((row) => row.event_id)).toEqual([...bad].sort());
      for (const row of rows) {
        expect(row).toMatchObject({ sql_state: sqlState, reason: expect.stringMatching(/./) });
        const kept = events.find(({ id }) => id === row.event_id);
        expect(JSON.parse(row.message.toString())).toEqual({ ...kept, occurredAt: null });
      }

      // Resend the batch, as the gateway does after a lost reply. The outcomes must stay the same, and the service must not store anything
      // twice.
      expect(await store(events)).toEqual(outcomes);
      expect(await listed(type)).toHaveLength(good.length);
      expect(await deadLetters(bad)).toHaveLength(bad.length);

      await stack.waitUntilPublished();
      const published = (await stack.readStream()).filter(({ record }) => record.event_type === type);
      expect(published.map(({ id }) => id).sort()).toEqual([...good].sort());
    },
    startLimitMs,
  );

  it('is counted', async () => {
    const counted = () => stack.metric('events', 'events_ingest_total', { outcome: 'dead_lettered' });
    const before = await counted();
    const events = [newEvent({ eventData: 'no JSON' })];
    let attempts = 0;
    await eventually(() => {
      attempts += 1;
      return stack.client.request(storeEventBatch, { events });
    });
    const added = (await counted()) - before;
    expect(added).toBeGreaterThanOrEqual(1);
    // When a reply is late, the test repeats the request, and the service counts it again.
    expect(added).toBeLessThanOrEqual(attempts);
  });

  it('does not occur because a receiver’s clock is wrong', async () => {
    const type = uniqueType('clock');
    const times = [0, Date.UTC(1999, 11, 31), Date.now() + 400 * 86_400_000, Date.UTC(9999, 11, 31)];
    const events = times.map((time) => newEvent({ time, eventType: type }));
    expect((await store(events)).map(({ outcome }) => outcome)).toEqual(times.map(() => 'stored'));
    expect(await listed(type)).toEqual(events.map(({ id }) => id).reverse());
  });

  it('does not occur because two concurrent batches contain the same messages in different orders', async () => {
    const type = uniqueType('crossing');
    const events = Array.from({ length: 50 }, (_, index) =>
      newEvent({ eventType: type, idempotencyKey: `${type} ${index}` }),
    );
    const again = events.map((event) => newEvent({ ...event, id: newEvent().id })).reverse();
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, index) => store(index % 2 ? again : events)),
    );
    const ids = new Set(outcomes.flat().map(({ id }) => id));
    expect(ids.size).toBe(50);
    expect([...ids].sort().reverse()).toEqual(await listed(type));
  });

  it('is not reported for a request that is not a valid batch', async () => {
    // The services caused this fault, so the client must not get a client error.
    for (const batch of [[], [newEvent({ id: 'x' })], [newEvent({ eventType: 'a\0' })]]) {
      // Retry until a reply arrives in time.
      await eventually(() =>
        expect(stack.client.request(storeEventBatch, { events: batch })).rejects.toMatchObject({
          code: 'internal',
          cause: { cause: { code: 'invalid' } },
        }),
      );
    }
  });
});
