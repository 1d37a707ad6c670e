import { readEventColumns, type NewEvent, type StoreOutcome } from '@stream-events/contracts';
import { connectClient } from '@stream-events/database';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import { schema } from '../events.database.js';
import { EventWriter } from './event-writer.service.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
  await store.partitions.ensureAhead(Date.now());
});
afterAll(() => store.close());
beforeEach(() => store.clear());

function stored(events: readonly NewEvent[]): StoreOutcome[] {
  return events.map(({ id }) => ({ id, outcome: 'stored' }));
}

function idsOf(events: readonly NewEvent[]): string[] {
  return events.map((event) => event.id).sort();
}

describe(EventWriter.name, () => {
  describe('store', () => {
    it('stores all fields of an event, byte for byte', async () => {
      const eventData =
        '{ "b":1, "a":12345678901234567890.10, "a":"\\u00e9\\/\\u0000", "user_name":"Straße" }';
      const event = newEvent({
        eventId: 'message-1',
        eventType: 'channel-cheer',
        eventSource: '✓',
        eventData,
        occurredAt: 1_764_000_000_123,
      });

      expect(await store.writer.store([event])).toEqual(stored([event]));

      const { idempotencyKey: _, ...expected } = event;
      expect(await store.list.find(event.id, {})).toEqual(expected);
    });

    it('stores the columns that the sender derived, and derives them only when they are missing', async () => {
      const eventData = '{"user_id":"7","broadcaster_user_id":"4711"}';
      const derived = newEvent({ eventData });
      const columns = { ...readEventColumns(derived.eventType, eventData), userId: '8' };
      const sent = { ...newEvent({ eventData }), columns };

      await store.writer.store([derived, sent]);

      const rows = await store.dataSource.query<{ id: string; user_id: string }[]>(
        'SELECT id, user_id FROM events',
      );
      expect(new Map(rows.map((row) => [row.id, row.user_id]))).toEqual(
        new Map([
          [derived.id, '7'],
          [sent.id, '8'],
        ]),
      );
    });

    it('stores the largest names and values that a contract allows', async () => {
      // ᾷ has 3 bytes and folds to 6, while PostgreSQL's index entries hold at most 2,704 bytes.
      const [long, growing] = ['🎉'.repeat(255), 'ᾷ'.repeat(255)];
      const eventData = JSON.stringify({
        user_id: growing,
        user_name: growing,
        broadcaster_user_id: long,
        reward: { id: growing },
      });
      const event = newEvent({ eventId: long, eventType: long, eventSource: '🎉'.repeat(32), eventData });

      expect(await store.writer.store([event])).toEqual(stored([event]));
    });

    it('returns the same outcomes when the same batch arrives again, and stores each event once', async () => {
      const events = newEvents(20).map((event, index) => ({
        ...event,
        eventId: index % 2 === 0 ? `message-${index}` : null,
      }));

      const first = await store.writer.store(events);
      const again = await store.writer.store(events);

      expect(first).toEqual(stored(events));
      expect(again).toEqual(first);
      expect(await store.storedIds()).toEqual(idsOf(events));
      expect(await store.count('outbox')).toBe(1);
    });

    it('returns the id under which a known message is stored', async () => {
      const [first, fresh] = [newEvent({ eventId: 'message-1' }), newEvent({ eventId: 'message-2' })];
      await store.writer.store([first]);
      const redelivered = newEvent({ eventId: 'message-1', eventData: '{"other":true}' });

      expect(await store.writer.store([redelivered, fresh])).toEqual([
        { id: first.id, outcome: 'known' },
        { id: fresh.id, outcome: 'stored' },
      ]);
      expect(await store.storedIds()).toEqual(idsOf([first, fresh]));
    });

    it('keeps the first of two events with the same key in one batch', async () => {
      const [first, second] = newEvents(2, { idempotencyKey: 'user-1:key' });
      if (!first || !second) throw new Error('expected two events');

      expect(await store.writer.store([first, second])).toEqual([
        { id: first.id, outcome: 'stored' },
        { id: first.id, outcome: 'known' },
      ]);
      expect(await store.storedIds()).toEqual([first.id]);
    });

    it('returns the outcomes in the order of the request', async () => {
      const events = newEvents(50).map((event, index) => ({ ...event, eventId: `message-${index * 7919}` }));

      expect((await store.writer.store(events)).map((outcome) => outcome.id)).toEqual(
        events.map((event) => event.id),
      );
    });

    it('treats an id in capitals as the same event', async () => {
      const event = newEvent();
      const shouting = { ...event, id: event.id.toUpperCase() };

      expect(await store.writer.store([shouting])).toEqual(stored([event]));
      expect(await store.writer.store([event, shouting])).toEqual([
        { id: event.id, outcome: 'stored' },
        { id: event.id, outcome: 'known' },
      ]);
      expect(store.handedToRelay.map((batch) => batch.events.map(({ id }) => id))).toEqual([[event.id]]);
    });

    it('passes only new events to the relay', async () => {
      const [known, fresh] = [newEvent({ eventId: 'message-1' }), newEvent({ eventId: 'message-2' })];
      await store.writer.store([known]);
      await store.writer.store([known, fresh]);
      await store.writer.store([known, fresh]);

      expect(store.handedToRelay.map((batch) => batch.events.map(({ id }) => id))).toEqual([
        [known.id],
        [fresh.id],
      ]);
      const outbox = await store.dataSource.query<{ id: string; event_ids: string[] }[]>(
        'SELECT id, event_ids FROM outbox ORDER BY id',
      );
      expect(outbox).toEqual([
        { id: store.handedToRelay[0]?.outboxId, event_ids: [known.id] },
        { id: store.handedToRelay[1]?.outboxId, event_ids: [fresh.id] },
      ]);
    });

    it('creates the partition on demand when the time of an id is far off', async () => {
      const events = ['2019-12-31T23:59:59.999Z', '2020-01-01T00:00:00Z', '2031-07-15T12:00:00Z'].map(
        (time) => newEvent({ id: v7({ msecs: Date.parse(time) }) }),
      );
      const batches = [[...newEvents(3), ...events], ...events.map((event) => [event])];

      await Promise.all(batches.map((batch) => store.writer.store(batch)));

      expect(await store.storedIds()).toEqual(idsOf(batches[0] ?? []));
      expect(await store.count('dead_letters')).toBe(0);
    });

    it('stores each event once when many concurrent batches overlap at random', async () => {
      const pool = newEvents(120).map((event, index) => ({ ...event, eventId: `message-${index}` }));
      const redeliver = (event: NewEvent): NewEvent => ({ ...event, id: v7() });
      const batches = fc
        .sample(fc.shuffledSubarray(pool, { minLength: 30 }), { numRuns: 80, seed: 4711 })
        .map((batch) => batch.map(redeliver));

      const answers = await Promise.all(batches.map((batch) => store.writer.store(batch)));

      const idByMessage = new Map<string | null, Set<string>>();
      const storedCount = new Map<string, number>();
      for (const [index, answer] of answers.entries()) {
        for (const [position, { id, outcome }] of answer.entries()) {
          const message = batches[index]?.[position]?.eventId ?? null;
          idByMessage.set(message, (idByMessage.get(message) ?? new Set()).add(id));
          if (outcome === 'stored') storedCount.set(id, (storedCount.get(id) ?? 0) + 1);
        }
      }
      const ids = [...idByMessage.values()].flatMap((set) => [...set]);
      // For each message, all writers got the same id and exactly one got `stored`; the store contains exactly these ids.
      expect([...idByMessage.values()].every((set) => set.size === 1)).toBe(true);
      expect([...storedCount.values()].every((count) => count === 1)).toBe(true);
      expect(await store.storedIds()).toEqual(ids.sort());
      expect(store.handedToRelay.flatMap((batch) => batch.events)).toHaveLength(ids.length);
    });
  });

  it('retries when it loses a deadlock against another writer', async () => {
    const events = newEvents(3).sort((a, b) => (a.id < b.id ? -1 : 1));
    const remember = 'INSERT INTO received_messages (key, event_id) VALUES ($1, $1)';
    // Only a superuser may change `deadlock_timeout`, or see the waits of another superuser's session.
    const superuser = { url: store.database.url, schema: schema.name, applicationName: 'event-writer-test' };
    const [other, observer, brake] = await Promise.all([
      connectClient(superuser),
      connectClient(superuser),
      store.beginTransaction(),
    ]);
    // `beginTransaction` explains this setting.
    await other.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    // The session whose deadlock timeout ends first becomes the victim, so this one must wait longer.
    await other.query("SET LOCAL deadlock_timeout = '1h'");
    await brake.query(remember, [events[1]?.id]);
    await other.query(remember, [events[2]?.id]);
    const untilWaiting = (count: number): Promise<void> =>
      eventually(async () => {
        const { rowCount } = await observer.query(
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        expect(rowCount).toBe(count);
      });

    const storing = store.writer.store(events);
    await untilWaiting(1);
    const crossing = other.query(remember, [events[0]?.id]);
    await untilWaiting(2);
    // Release the batch only now. PostgreSQL checks a wait for deadlocks once, after a second, and the other transaction must be waiting by
    // then.
    await brake.rollbackTransaction();
    await crossing;
    await other.query('ROLLBACK');
    await Promise.all([brake.release(), other.end(), observer.end()]);

    expect(await storing).toEqual(stored(events));
    expect(await store.storedIds()).toEqual(idsOf(events));
  });

  describe('store, when the database rejects an event', () => {
    const good = '{"fine":true}';
    const culprits: [string, string, string][] = [
      ['invalid JSON', '{"a":', '22P02'],
      ['not an object', '[1]', '23514'],
      ['a NUL byte', '{"a":"\0"}', '22021'],
      ['nested too deeply', '['.repeat(50_000), '54001'],
    ];

    it.each(culprits)('keeps a single event as a dead letter: %s', async (_, eventData, sqlState) => {
      const event = newEvent({ eventData });

      expect(await store.writer.store([event])).toEqual([{ id: event.id, outcome: 'dead_lettered' }]);

      const [kept] = await store.dataSource.query<Record<string, unknown>[]>(
        'SELECT key, event_id, sql_state, reason, message FROM dead_letters',
      );
      expect(kept).toMatchObject({ key: event.id, event_id: event.id, sql_state: sqlState });
      expect(JSON.parse(String(kept?.message))).toEqual({ ...event, occurredAt: null });
      expect(await store.storedIds()).toEqual([]);
      expect(store.handedToRelay).toEqual([]);
    });

    it.each([0, 1, 31, 32, 33, 62, 63])(
      'stores the other 63 events when the rejected one is number %i by key',
      async (place) => {
        const events = newEvents(64, { eventData: good }).sort((a, b) => (a.id < b.id ? -1 : 1));
        const bad = events[place];
        if (!bad) throw new Error('expected an event');
        bad.eventData = '{"a":';

        const outcomes = await store.writer.store(events);

        expect(outcomes.filter(({ outcome }) => outcome !== 'stored')).toEqual([
          { id: bad.id, outcome: 'dead_lettered' },
        ]);
        expect(await store.storedIds()).toEqual(idsOf(events.filter((event) => event !== bad)));
        expect(await store.count('dead_letters')).toBe(1);
        expect(await store.count('received_messages')).toBe(63);
        expect(store.handedToRelay.flatMap((batch) => batch.events)).toHaveLength(63);
      },
    );

    it.each([
      ['adjacent', [10, 11]],
      ['far apart', [0, 30, 63]],
      ['of every kind', [1, 2, 40, 50]],
      ['half of them', Array.from({ length: 32 }, (_, index) => index * 2)],
      ['all of them', Array.from({ length: 64 }, (_, index) => index)],
    ])('keeps several events as dead letters (%s) and stores the rest', async (_, places) => {
      const events = newEvents(64, { eventData: good });
      for (const [index, place] of places.entries()) {
        const event = events[place];
        if (event) event.eventData = culprits[index % 3]?.[1] ?? '';
      }

      const outcomes = await store.writer.store(events);

      expect(outcomes.flatMap(({ outcome }, place) => (outcome === 'dead_lettered' ? [place] : []))).toEqual(
        places,
      );
      expect(await store.storedIds()).toEqual(idsOf(events.filter(({ eventData }) => eventData === good)));
      expect(await store.count('dead_letters')).toBe(places.length);
    });

    it('makes one dead letter of a message that is redelivered', async () => {
      const events = newEvents(3, { eventId: 'message-1', eventData: '{' });

      for (const event of events) await store.writer.store([event]);

      expect(await store.count('dead_letters')).toBe(1);
    });

    it('keeps an event with the id of another event as a dead letter', async () => {
      const first = newEvent({ eventId: 'message-1' });
      const second = newEvent({ id: first.id, eventId: 'message-2' });

      const outcomes = await store.writer.store([first, second]);

      expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['dead_lettered', 'stored']);
      expect(await store.storedIds()).toEqual([first.id]);
    });

    it('counts the outcome of every event', async () => {
      const event = newEvent({ eventId: 'message-1' });
      const before = await readCounts();

      await store.writer.store([event, newEvent({ eventData: '{' })]);
      await store.writer.store([newEvent({ eventId: 'message-1' })]);

      const after = await readCounts();
      expect(
        Object.entries(after).map(([outcome, count]) => [outcome, count - (before[outcome] ?? 0)]),
      ).toEqual(
        expect.arrayContaining([
          ['stored', 1],
          ['dead_lettered', 1],
          ['known', 1],
        ]),
      );
    });
  });

  it("throws the database's error and keeps no dead letter when the database is unavailable", async () => {
    await store.dataSource.query('ALTER TABLE outbox RENAME TO outbox_away');

    await expect(store.writer.store(newEvents(4))).rejects.toMatchObject({ code: '42P01' });

    await store.dataSource.query('ALTER TABLE outbox_away RENAME TO outbox');
    expect(await store.count('dead_letters')).toBe(0);
    expect(await store.count('received_messages')).toBe(0);
  });
});

async function readCounts(): Promise<Record<string, number>> {
  const metric = await store.metrics.getSingleMetric('events_ingest_total')?.get();
  return Object.fromEntries(
    (metric?.values ?? []).map(({ labels, value }) => [String(labels.outcome), value]),
  );
}
