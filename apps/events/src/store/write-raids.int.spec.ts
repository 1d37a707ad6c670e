import type { NewEvent, StoreOutcome } from '@stream-events/contracts';
import { jest } from '@jest/globals';
import { takeKeyedAdvisoryLock } from '@stream-events/database';
import { Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import type { EventWriter } from './event-writer.service.js';
import { EventsRepository } from './events.repository.js';
import { toRow } from './write-batch.js';
import { isPlatformRaid } from './match-raids.js';
import { writeRaids } from './write-raids.js';

let store: EventStore;
let writers: EventWriter[];
beforeAll(async () => {
  store = await EventStore.create();
  await store.partitions.ensureAhead(Date.now());
  const events = new EventsRepository(
    store.dataSource,
    store.openPool('events-test-other', 20),
    store.changes,
    store.erasedUsers,
  );
  writers = [store.writer, store.createWriter(store.partitions, new Registry(), events)];
});
afterAll(() => store.close());
beforeEach(() => store.clear());

const evening = Date.now() - 3_600_000;
let messages = 0;

type Side = 'from' | 'to';

/** Returns a delivery of the subscription for raids from a channel or to a channel. */
function deliveredTo(side: Side, channel: string): Pick<NewEvent, 'delivery'> {
  const subscription = JSON.stringify(['channel.raid', '1', [`${side}_broadcaster_user_id`, channel]]);
  return { delivery: { subscription } };
}

/** Returns a platform message about a raid with its own message id, by default from the subscription of the raided channel. */
function raid(from: string, to: string, overrides: Partial<NewEvent> = {}): NewEvent {
  messages += 1;
  return newEvent({
    eventType: 'channel-raid',
    eventId: `message-${messages}`,
    eventData: JSON.stringify({ from_broadcaster_user_id: from, to_broadcaster_user_id: to, viewers: 7 }),
    ...deliveredTo('to', to),
    ...overrides,
  });
}

/** Returns the messages about one raid, of the raiding and of the raided channel's subscription. */
function raidOfBoth(from: string, to: string, overrides: Partial<NewEvent> = {}): [NewEvent, NewEvent] {
  return [raid(from, to, { ...overrides, ...deliveredTo('from', from) }), raid(from, to, overrides)];
}

/** Stores messages one by one, and returns the outcomes with the ids of the events that the messages became. */
async function storeInTurn(...events: NewEvent[]): Promise<StoreOutcome[]> {
  const outcomes: StoreOutcome[] = [];
  for (const [index, event] of events.entries())
    outcomes.push(...(await writers[index % writers.length]!.store([event])));
  return outcomes;
}

const relayedIds = (): string[] =>
  store.handedToRelay.flatMap(({ events }) => events.map(({ id }) => id)).sort();

describe(writeRaids.name, () => {
  it('stores a raid that the platform reports for both of its channels once, and recognizes redeliveries of both messages', async () => {
    const [first, second] = raidOfBoth('1', '2');

    expect(await storeInTurn(first, second)).toEqual([
      { id: first.id, outcome: 'stored' },
      { id: first.id, outcome: 'known' },
    ]);
    const redelivered = [second, first, second].map((event) => ({ ...event, id: v7() }));
    expect(await storeInTurn(...redelivered)).toEqual(
      redelivered.map(() => ({ id: first.id, outcome: 'known' })),
    );

    expect(await store.storedIds()).toEqual([first.id]);
    expect(await store.count('received_messages')).toBe(2);
    expect(await store.count('outbox')).toBe(1);
    expect(relayedIds()).toEqual([first.id]);
  });

  it('returns the same outcomes when a batch with both messages arrives again, in the order of the request', async () => {
    const [first, second] = raidOfBoth('1', '2');
    const batch = [...newEvents(3), first, ...newEvents(3), second, ...newEvents(3), raid('2', '1')];

    const outcomes = await store.writer.store(batch);
    const [known] = outcomes.filter(({ outcome }) => outcome === 'known');

    expect(await writers[1]!.store(batch)).toEqual(outcomes);
    expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(batch.length - 1);
    expect([first.id, second.id]).toContain(known?.id);
    expect(outcomes[3]?.id).toBe(outcomes[7]?.id);
    expect(await store.count('events')).toBe(batch.length - 1);
    expect(relayedIds()).toEqual(await store.storedIds());
  });

  it.each<[string, NewEvent, NewEvent]>([
    ['in the other direction', raid('1', '2'), raid('2', '1')],
    ['on another channel', raid('1', '2'), raid('1', '3')],
    ['from another channel', raid('1', '2'), raid('3', '2')],
    ['that the same subscription reports', raid('1', '2'), raid('1', '2')],
    ['of another type', raid('1', '2', deliveredTo('from', '1')), raid('1', '2', { eventType: 'raid' })],
    ['that a client added', raid('1', '2'), raid('1', '2', { ...deliveredTo('from', '1'), eventId: null })],
    ['after one that a client added', raid('1', '2', { eventId: null }), raid('1', '2')],
    ['that is a test', raid('1', '2'), raid('1', '2', { ...deliveredTo('from', '1'), origin: 'test' })],
    ['from an unknown subscription', raid('1', '2'), raid('1', '2', { delivery: undefined })],
    [
      'without the other channel',
      raid('1', '2'),
      raid('1', '2', { ...deliveredTo('from', '1'), eventData: '{"from_broadcaster_user_id":"1"}' }),
    ],
  ])('stores a second raid %s', async (_, first, second) => {
    expect(await storeInTurn(first, second)).toEqual([
      { id: first.id, outcome: 'stored' },
      { id: second.id, outcome: 'stored' },
    ]);
  });

  const at = (seconds: number): Partial<NewEvent> => ({ id: v7({ msecs: evening + seconds * 1_000 }) });

  it.each<[string, Partial<NewEvent>, Partial<NewEvent>, StoreOutcome['outcome']]>([
    ['within an hour', at(0), at(3_599), 'known'],
    ['more than an hour later', at(0), at(3_601), 'stored'],
    ['up to an hour earlier', at(3_599), at(0), 'known'],
    ['more than an hour earlier', at(3_601), at(0), 'stored'],
  ])('remembers for an hour who reported a raid: the other side %s', async (_, first, second, outcome) => {
    const [one, other] = raidOfBoth('1', '2');
    const [, received] = await storeInTurn({ ...one, ...first }, { ...other, ...second });

    expect(received?.outcome).toBe(outcome);
  });

  it('deletes the reports of raids after an hour', async () => {
    await storeInTurn(raid('1', '2'), raid('3', '4'));
    await store.dataSource.query(
      `UPDATE raid_reports SET reported_at = now() - interval '61 minutes' WHERE subscription LIKE '%"4"%'`,
    );

    await store.events.forgetRaidReports();

    expect(await store.dataSource.query('SELECT subscription FROM raid_reports')).toEqual([
      { subscription: deliveredTo('to', '2').delivery?.subscription },
    ]);
  });

  it('stores every raid once when two instances get both messages and redeliveries at the same time, in any batches', async () => {
    const channels = fc.integer({ min: 1, max: 4 }).map(String);
    // Also several raids between the same channels.
    const pairs = fc.array(fc.tuple(channels, channels), { minLength: 1, maxLength: 6 });
    const deliveries = fc.record({
      pairs,
      // For each of up to six raids: how often each of the two messages is delivered.
      copies: fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 3 })), {
        minLength: 6,
        maxLength: 6,
      }),
      order: fc.infiniteStream(fc.nat()),
      batches: fc.integer({ min: 2, max: 8 }),
    });
    await fc.assert(
      fc.asyncProperty(deliveries, async ({ pairs, copies, order, batches }) => {
        await store.clear();
        const delivered = pairs.flatMap(([from, to], index) =>
          raidOfBoth(from, to).flatMap((message, side) => {
            const count = copies[index]?.[side] ?? 0;
            return Array.from({ length: count }, () => ({ ...message, id: v7() }));
          }),
        );
        const all = [...delivered, ...newEvents(5)];
        const ranks = new Map(all.map((event) => [event, order.next().value as number]));
        const shuffled = all.toSorted((one, other) => ranks.get(one)! - ranks.get(other)!);
        const split = Array.from({ length: batches }, (_, batch) =>
          shuffled.filter((_, index) => index % batches === batch),
        ).filter(({ length }) => length > 0);

        const replies = await Promise.all(
          split.map((batch, index) => writers[index % writers.length]!.store(batch)),
        );

        const outcomes = split.flatMap((batch, index) =>
          batch.map((event, position) => ({ event, ...replies[index]![position]! })),
        );
        const stored = await store.storedIds();
        expect(stored).toHaveLength(pairs.length + 5);
        expect(relayedIds()).toEqual(stored);
        expect(outcomes.filter(({ outcome }) => outcome === 'stored')).toHaveLength(stored.length);
        // The messages about the raids of a pair became as many events.
        const ids = new Map<string, Set<string>>();
        for (const { event, id } of outcomes)
          if (event.eventId !== null)
            ids.set(event.eventData, (ids.get(event.eventData) ?? new Set()).add(id));
        const counts = pairs.map((pair) => pairs.filter((other) => String(other) === String(pair)).length);
        expect(pairs.map(([from, to]) => ids.get(raid(from, to).eventData)?.size)).toEqual(counts);
      }),
      { numRuns: 60 },
    );
  }, 240_000);

  it('stores a raid once when an instance dies while both messages are being stored', async () => {
    const [first, second] = raidOfBoth('1', '2');
    const brake = await store.beginTransaction();
    await takeKeyedAdvisoryLock(brake, 'raidChannels', '["channel-raid","1","2"]');
    const waiting = (): Promise<{ pid: number }[]> =>
      store.dataSource.query(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`,
      );

    const results = [first, second].map((event, index) =>
      writers[index]!.store([event]).catch((error: unknown) => error),
    );
    const [victim] = await eventually(async () => {
      const found = await waiting();
      expect(found).toHaveLength(2);
      return found;
    });
    await store.dataSource.query('SELECT pg_terminate_backend($1)', [victim?.pid]);
    const failed = await Promise.race(results.map((result, index) => result.then(() => index)));
    await brake.commitTransaction();
    await brake.release();
    const settled = await Promise.all(results);

    expect(settled[failed]).toHaveProperty('message');
    const [storedId] = await store.storedIds();
    expect(await store.count('events')).toBe(1);
    expect(settled[1 - failed]).toEqual([{ id: storedId, outcome: 'stored' }]);
    const again = await storeInTurn(...[first, second].map((event) => ({ ...event, id: v7() })));
    expect(again).toEqual([1, 2].map(() => ({ id: storedId, outcome: 'known' })));
    expect(await store.count('events')).toBe(1);
  });

  it('finds the other message with the index on the raiding channel, among many events of the same hour', async () => {
    await store.generate(20_000, Date.now() - 30_000, {
      event_id: "'generated-' || n",
      event_type: "CASE WHEN n % 20 = 0 THEN 'channel-raid' ELSE 'channel-follow' END",
      raid_from_id: 'CASE WHEN n % 20 = 0 THEN (n % 700)::text END',
      raid_to_id: 'CASE WHEN n % 20 = 0 THEN (n % 60)::text END',
    });
    await store.dataSource.query('ANALYZE events');
    // With a single connection in the pool, the spy sees the statements of the write.
    const pool = store.openPool('events-test-plan', 1);
    const client = await pool.connect();
    const query = jest.spyOn(client, 'query');
    client.release();

    await writeRaids(pool, [toRow(raid('20', '0'))].filter(isPlatformRaid));

    const [sql, values] = query.mock.calls.find(([text]) => text.startsWith('SELECT id,')) ?? [];
    const plan = await store.dataSource.query<unknown[]>(`EXPLAIN ${sql}`, values);
    expect(JSON.stringify(plan)).toMatch(/Index Cond: \(*raid_from_id = /);
    expect(JSON.stringify(plan)).not.toContain('Seq Scan on events');
  });

  it('creates the partition that a raid needs', async () => {
    const event = raid('1', '2', { id: v7({ msecs: Date.UTC(2019, 5, 1) }) });

    expect(await store.writer.store([event])).toEqual([{ id: event.id, outcome: 'stored' }]);
  });

  it('keeps a raid that the database rejects as a dead letter, and stores the rest of the batch', async () => {
    const taken = newEvent();
    await store.writer.store([taken]);
    const [bad, good] = [raid('1', '2', { id: taken.id }), raid('3', '4')];
    const others = newEvents(2);

    const outcomes = await store.writer.store([...others, bad, good]);

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['stored', 'stored', 'dead_lettered', 'stored']);
    expect(await store.storedIds()).toEqual([taken, good, ...others].map(({ id }) => id).sort());
  });
});
