import type { Delivery, NewEvent, StoreOutcome } from '@stream-events/contracts';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent, newEvents } from '../../test/new-event.js';
import type { EventWriter } from './event-writer.service.js';
import { EventsRepository } from './events.repository.js';
import { Overlaps } from './overlaps.service.js';

import { writeOverlapping } from './write-overlapping.js';

let store: EventStore;
let overlaps: Overlaps[];
let writers: EventWriter[];
beforeAll(async () => {
  store = await EventStore.create();
  await store.partitions.ensureAhead(Date.now());
  const other = new Overlaps(store.dataSource, createLogger('test', 'silent'));
  overlaps = [store.overlaps, other];
  const events = new EventsRepository(
    store.dataSource,
    store.openPool('events-test-other', 10),
    store.changes,
    store.erasedUsers,
    other,
  );
  writers = [store.writer, store.createWriter(store.partitions, new Registry(), events)];
});
afterAll(() => store.close());
beforeEach(async () => {
  await store.clear();
  await refresh();
});

const subscription = '["channel.cheer","1",["broadcaster_user_id","4711"]]';
const evening = Date.now() - 3_600_000;
const at = (seconds: number): number => Math.round(evening + seconds * 1_000);
let messages = 0;

/** Makes all instances read the current overlaps. */
const refresh = () => Promise.all(overlaps.map((each) => each.refresh()));
const begin = async (): Promise<void> => {
  await store.overlaps.begin([subscription]);
  await refresh();
};

/** Ends the overlap at this second; from then on, only the new subscription counts. */
const end = async (seconds: number): Promise<void> => {
  await store.overlaps.end([{ subscription, keptSince: at(100) }], at(seconds));
  await refresh();
};

/** Returns a delivery of a cheer with its own message id. The platform created the new subscription at second 100. */
function cheer(
  via: 'old' | 'new',
  seconds: number,
  { delivery, ...overrides }: Partial<Omit<NewEvent, 'delivery'>> & { delivery?: Partial<Delivery> } = {},
): NewEvent {
  messages += 1;
  return newEvent({
    eventType: 'channel-cheer',
    eventId: `message-${messages}`,
    eventData: '{"bits":1,"broadcaster_user_id":"4711"}',
    occurredAt: at(seconds),
    delivery: { via, subscription, subscribedAt: at(via === 'old' ? 0 : 100), ...delivery },
    ...overrides,
  });
}

/** Stores messages one by one, on two instances in turn, and returns the outcomes. */
async function storeInTurn(...events: NewEvent[]): Promise<StoreOutcome['outcome'][]> {
  const outcomes: StoreOutcome['outcome'][] = [];
  for (const [index, event] of events.entries())
    outcomes.push(...(await writers[index % 2]!.store([event])).map(({ outcome }) => outcome));
  return outcomes;
}

describe(writeOverlapping.name, () => {
  it('stores an occurrence that both subscriptions deliver once, and recognizes redeliveries of both messages', async () => {
    await begin();
    const [first, second] = [cheer('old', 200), cheer('new', 201)];

    expect(await writers[0]!.store([first])).toEqual([{ id: first.id, outcome: 'stored' }]);
    expect(await writers[1]!.store([second])).toEqual([{ id: first.id, outcome: 'known' }]);
    for (const event of [second, first, second]) {
      const redelivered = { ...event, id: v7() };
      expect(await writers[0]!.store([redelivered])).toEqual([{ id: first.id, outcome: 'known' }]);
    }

    expect(await store.storedIds()).toEqual([first.id]);
    expect(await store.count('received_messages')).toBe(2);
    expect(await store.count('outbox')).toBe(1);
  });

  it('keeps two equal occurrences apart, in any order of their deliveries', async () => {
    await begin();
    const deliveries = [cheer('new', 200), cheer('new', 201), cheer('old', 201), cheer('old', 200)];

    expect(await storeInTurn(...deliveries)).toEqual(['stored', 'stored', 'known', 'known']);
    expect(await storeInTurn(cheer('old', 202), cheer('old', 203))).toEqual(['stored', 'stored']);
  });

  it('pairs within a batch, beside other events, and returns the same outcomes when the batch arrives again', async () => {
    await begin();
    const batch = [...newEvents(2), cheer('old', 200), cheer('new', 200), ...newEvents(2), cheer('old', 200)];

    const outcomes = await writers[0]!.store(batch);

    expect(outcomes.filter(({ outcome }) => outcome === 'known')).toHaveLength(1);
    expect(await writers[1]!.store(batch)).toEqual(outcomes);
    expect(await store.count('events')).toBe(6);
  });

  const other = { eventData: '{"bits":1, "broadcaster_user_id":"4711"}' };
  it.each<[string, NewEvent, NewEvent]>([
    ['of the same subscription', cheer('old', 200), cheer('old', 200)],
    ['with other event bytes', cheer('old', 200), cheer('new', 200, other)],
    [
      'with another condition',
      cheer('old', 200),
      cheer('new', 200, { delivery: { subscription: '["channel.cheer","1",["broadcaster_user_id","1"]]' } }),
    ],
    ['more than a minute later', cheer('old', 200), cheer('new', 261)],
    ['more than a minute earlier', cheer('new', 261), cheer('old', 200)],
    ['of an occurrence from before the second subscription', cheer('old', 99), cheer('new', 100)],
    ['of one from before the second subscription, delivered late', cheer('new', 100), cheer('old', 99)],
    ['without the time of the message', cheer('old', 200), cheer('new', 200, { occurredAt: null })],
    ['of a test', cheer('old', 200), cheer('new', 200, { origin: 'test', eventId: null })],
  ])('stores a second delivery %s', async (_, first, second) => {
    await begin();
    await store.overlaps.begin(['["channel.cheer","1",["broadcaster_user_id","1"]]']);

    expect(await storeInTurn(first, second)).toEqual(['stored', 'stored']);
  });

  it('does not pair a delivery whose partner was lost with a later one', async () => {
    await begin();

    expect(await storeInTurn(cheer('new', 200), cheer('new', 240), cheer('old', 240))).toEqual([
      'stored',
      'stored',
      'known',
    ]);
    expect(await storeInTurn(cheer('old', 280))).toEqual(['stored']);
  });

  it('pairs nothing before the overlap begins, and only older messages after its end', async () => {
    expect(await storeInTurn(cheer('old', 200), cheer('new', 200))).toEqual(['stored', 'stored']);
    await begin();
    expect(await storeInTurn(cheer('old', 300), cheer('old', 301))).toEqual(['stored', 'stored']);

    await end(302);

    // These cheers happened after the end, so only the new subscription delivers them, although they equal unpaired deliveries from before.
    expect(await storeInTurn(cheer('new', 310), cheer('new', 311))).toEqual(['stored', 'stored']);
    // These messages arrive late: from a redelivery, or from INGEST.
    expect(await storeInTurn(cheer('new', 300), cheer('new', 301), cheer('new', 300))).toEqual([
      'known',
      'known',
      'stored',
    ]);
  });

  it('does not pair a delivery after the end with one from before the second subscription was enabled', async () => {
    await begin();
    // The new subscription is created at second 100 and enabled at second 102. Until then, only the old subscription delivers.
    expect(await storeInTurn(cheer('old', 101), cheer('new', 103), cheer('old', 103))).toEqual([
      'stored',
      'known', // counts as a repeat of the first cheer, which does no harm, because the two are equal
      'stored',
    ]);
    await end(120);

    expect(await storeInTurn(cheer('new', 120.2), cheer('new', 121))).toEqual(['stored', 'stored']);
  });

  it('does not pair a delivery after the end with an equal one that happened 40 ms earlier', async () => {
    await begin();
    // Only the old subscription delivers the first cheer, so each new delivery pairs with the old delivery of the cheer before it.
    expect(
      await storeInTurn(
        ...[cheer('old', 119.88), cheer('new', 119.92), cheer('old', 119.92)],
        ...[cheer('new', 119.96), cheer('old', 119.96)],
      ),
    ).toEqual(['stored', 'known', 'stored', 'known', 'stored']);
    await end(119.98);

    expect(await storeInTurn(cheer('new', 120), cheer('new', 120.04))).toEqual(['stored', 'stored']);
  });

  it('ignores what the old subscription delivers after the end, but not what a later subscription delivers', async () => {
    await begin();
    await end(120);
    const superseded = cheer('old', 121);
    const later = { delivery: { via: 'later', subscribedAt: at(122) } };

    expect(await storeInTurn(superseded, { ...superseded, id: v7() }, cheer('new', 121))).toEqual([
      'stored', // acceptable: the new subscription delivers it as well
      'known',
      'stored',
    ]);
    expect(await storeInTurn(cheer('new', 123, later), cheer('new', 124, later))).toEqual([
      'stored',
      'stored',
    ]);
    expect(await store.count('events')).toBe(3);
  });

  it('pairs messages whose times are on both sides of the end', async () => {
    await begin();
    await end(120);

    expect(
      await storeInTurn(cheer('old', 119.99), cheer('new', 120.01), cheer('new', 119.98), cheer('old', 120)),
    ).toEqual(['stored', 'known', 'stored', 'known']);
  });

  it('pairs again when another overlap of the same subscription begins', async () => {
    await begin();
    await end(302);
    await begin();

    expect(await storeInTurn(cheer('old', 400), cheer('new', 400))).toEqual(['stored', 'known']);
  });

  it('pairs nothing with a delivery that the previous overlap left without a partner', async () => {
    await begin();
    await storeInTurn(cheer('old', 119));
    await end(120);
    await begin();
    const third = { delivery: { via: 'third', subscribedAt: at(150) } };

    expect(await storeInTurn(cheer('new', 140), cheer('new', 151), cheer('new', 151, third))).toEqual([
      'stored',
      'stored',
      'known',
    ]);
  });

  it('tells when every instance knows an overlap', async () => {
    const readyInMs = await store.overlaps.begin([subscription]);

    expect(readyInMs).toBeGreaterThan(3_000);
    await store.dataSource.query("UPDATE subscription_overlaps SET begun_at = now() - interval '5 seconds'");
    expect(await store.overlaps.begin([subscription])).toBe(0);
    expect(await store.overlaps.begin([subscription, 'another one'])).toBeGreaterThan(3_000);
  });

  it('keeps a rejected delivery as a dead letter, and pairs a retry of it', async () => {
    await begin();
    const invalid = { eventData: '{"bits":1' };
    expect(await storeInTurn(cheer('old', 200, invalid), cheer('new', 200), cheer('new', 200))).toEqual([
      'dead_lettered',
      'stored',
      'stored',
    ]);
    const [letter] = (await store.deadLetters.list({ pageSize: 10 })).messages;
    const kept = await store.deadLetters.find(letter!.id);

    expect(kept?.event).toMatchObject({ occurredAt: at(200), delivery: { via: 'old', subscription } });
    expect(
      (await writers[0]!.storeAgain({ ...kept!.event, eventData: cheer('old', 0).eventData })).outcome,
    ).toBe('known');
  });

  it('forgets overlaps that ended, and unpaired deliveries that were stored, over 25 hours ago', async () => {
    await begin();
    await storeInTurn(cheer('old', 200));
    await store.overlaps.end([{ subscription, keptSince: 0 }], Date.now() - 26 * 3_600_000);
    await store.dataSource.query("UPDATE unpaired_deliveries SET stored_at = now() - interval '26 hours'");

    await store.overlaps.forgetOld();

    expect(await store.dataSource.query('SELECT FROM subscription_overlaps')).toEqual([]);
    expect(await store.dataSource.query('SELECT FROM unpaired_deliveries')).toEqual([]);
  });

  /**
   * Generates occurrences in four periods. Before the new subscription is created (seconds 80–94) and enabled (100–104), only the old
   * subscription delivers. Then both subscriptions deliver (105–119). The overlap ends at second 120. Afterwards (121–135), the old
   * subscription still delivers, but only the messages of the new one count.
   */
  const plan = fc.record({
    occurrences: fc.array(
      fc.record({
        part: fc.constantFrom(80, 100, 105, 121),
        second: fc.nat(14),
        payload: fc.nat(1),
        copies: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
        isLost: fc.boolean(),
      }),
      { minLength: 1, maxLength: 24 },
    ),
    // For each payload, the subscription that loses messages. Only one may lose them, because two equal occurrences could otherwise count
    // as one. For the first payload, it can only be the new subscription, which misses that payload anyway until it is enabled.
    losing: fc.tuple(fc.constantFrom('new', 'none'), fc.constantFrom('old', 'new', 'none')),
    order: fc.infiniteStream(fc.nat()),
    batches: fc.integer({ min: 1, max: 6 }),
  });

  it('stores each occurrence once, for any order, redeliveries, losses, batches, and two instances at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ occurrences, losing, order, batches }) => {
        await store.clear();
        await begin();
        const rank = new Map<NewEvent, number>();
        const [early, late]: NewEvent[][] = [[], []];
        for (const { part: drawn, second, payload, copies, isLost } of occurrences) {
          const part = drawn === 100 && payload === 1 ? 105 : drawn;
          for (const [index, via] of (['old', 'new'] as const).entries()) {
            const isAlone = via === 'new' && part < 105;
            if (isAlone) continue;
            // Lose messages only while both subscriptions deliver. Other losses would also happen without an overlap.
            if (part === 105 && isLost && losing[payload] === via) continue;
            const message = cheer(via, part + (part === 100 ? second / 3 : second), {
              eventData: JSON.stringify({ bits: payload, broadcaster_user_id: '4711' }),
            });
            for (let copy = 0; copy < copies[index]!; copy += 1) {
              const delivered = { ...message, id: v7() };
              const place = order.next().value as number;
              rank.set(delivered, place);
              // Some messages from before the end arrive afterwards.
              if (part === 121 || place % 4 === 0) late!.push(delivered);
              else early!.push(delivered);
            }
          }
        }
        const storeAll = async (events: NewEvent[]): Promise<void> => {
          const shuffled = events.toSorted((one, another) => rank.get(one)! - rank.get(another)!);
          await Promise.all(
            Array.from({ length: batches }, (_, batch) =>
              shuffled.filter((_event, index) => index % batches === batch),
            )
              .filter(({ length }) => length > 0)
              .map((batch, index) => writers[index % 2]!.store(batch)),
          );
        };

        await storeAll(early!);
        await end(120);
        await storeAll(late!);

        const rows = await store.dataSource.query<{ payload: number; count: number }[]>(
          `SELECT (event_data->>'bits')::int AS payload, count(*)::int AS count FROM events GROUP BY 1 ORDER BY 1`,
        );
        const expected = [0, 1]
          .map((payload) => ({
            payload,
            count: occurrences.filter((each) => each.payload === payload).length,
          }))
          .filter(({ count }) => count > 0);
        expect(rows).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  }, 300_000);
});

describe('beginning an overlap', () => {
  it('waits for an overlap that another call has just begun again', async () => {
    await begin();
    await end(300);
    await store.dataSource.query("UPDATE subscription_overlaps SET begun_at = now() - interval '1 hour'");
    const other = await store.beginTransaction();
    await other.query(
      "UPDATE subscription_overlaps SET begun_at = now() + interval '1 hour', ended_at = NULL",
    );

    const readyInMs = store.overlaps.begin([subscription]);
    readyInMs.catch(() => undefined); // awaited below
    try {
      await eventually(async () => {
        const waiting = await store.dataSource.query<unknown[]>(
          "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        );
        expect(waiting).toHaveLength(1);
      });
    } finally {
      await other.commitTransaction();
      await other.release();
    }

    expect(await readyInMs).toBeGreaterThan(0);
  });
});
