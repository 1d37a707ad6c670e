import { firstIdAt, receivedAt } from '@stream-events/contracts';
import { eventually } from '@stream-events/testing';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { dropPartitions, retainFor, type RetainingInstance } from '../../test/retaining-store.js';
import { PartitionsRepository } from './partitions.repository.js';
import { toRow, writeBatch } from './write-batch.js';

const day = 24 * 3_600_000;
const begin = Date.UTC(2023, 10, 20, 9, 30);

let store: EventStore;
let instances: Map<number, RetainingInstance>;
beforeAll(async () => {
  store = await EventStore.create();
  instances = new Map([0, 7, 30, 89, 90, 400].map((days) => [days, retainFor(store, days)]));
});
afterAll(() => store.close());
beforeEach(() => dropPartitions(store));

function instance(days: number): RetainingInstance {
  const found = instances.get(days);
  if (!found) throw new Error(`no instance keeps events for ${days} days`);
  return found;
}

/** Stores events received at these times like the writer, but with the test's own clock. */
async function storeAt(times: readonly number[], partitions: PartitionsRepository): Promise<string[]> {
  const rows = times.map((msecs) => toRow(newEvent({ id: v7({ msecs }) })));
  rows.sort((one, other) => (one.key < other.key ? -1 : 1));
  await partitions.ensureFor(rows.map(({ id }) => id));
  await store.events.write({ rows, write: writeBatch });
  return rows.map(({ id }) => id);
}

async function remove({ remover, policy, sessions }: RetainingInstance, now: number): Promise<void> {
  const stopping = new AbortController().signal;
  const session = await eventually(async () => {
    const opened = await sessions.open('partitionMaintenance', stopping);
    if (!opened) throw new Error('the previous session has not ended');
    return opened;
  });
  await remover.run({ session, stopping }, policy.cutoff(now));
  await session.close();
}

async function names(): Promise<string[]> {
  return (await store.partitions.list()).map(({ name }) => name);
}

describe(PartitionsRepository.name, () => {
  it('begins new partitions where existing ones end when RETENTION_DAYS changes', async () => {
    await instance(0).partitions.ensureAhead(begin);
    await storeAt([begin], store.partitions);
    expect(await names()).toEqual(['events_2023_12', 'events_2023_11']);

    const inDecember = Date.UTC(2023, 11, 29, 12);
    await instance(30).partitions.ensureAhead(inDecember);
    await remove(instance(30), inDecember);
    expect(await names()).toEqual([
      ...['05', '04', '03', '02', '01'].map((number) => `events_2024_01_${number}`),
      'events_2023_12',
      // This partition ends after November 29, the first day to keep.
      'events_2023_11',
    ]);

    const inJanuary = Date.UTC(2024, 0, 3, 12);
    await instance(400).partitions.ensureAhead(inJanuary);
    await remove(instance(400), inJanuary);
    expect((await names()).slice(0, 3)).toEqual(['events_2024_02', 'events_2024_01_06', 'events_2024_01_05']);

    const inFebruary = Date.UTC(2024, 1, 20);
    await instance(7).partitions.ensureAhead(inFebruary);
    await remove(instance(7), inFebruary);
    expect(await names()).toEqual(['events_2024_02']);
  });

  it('has one partition for every event, and removes exactly the expired ones, for any times and settings', async () => {
    const step = fc.record({
      days: fc.constantFrom(...instances.keys()),
      advance: fc.oneof(fc.nat(3 * day), fc.nat(70 * day)),
      // When events are received: 0 is the cutoff (without one, 200 days before `begin`), 1 is three days in the future.
      places: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 12 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 6 }), async (steps) => {
        await dropPartitions(store);
        let now = begin;
        let stored: string[] = [];
        for (const { days, advance, places } of steps) {
          now += advance;
          const { partitions, policy } = instance(days);
          const from = policy.cutoff(now) ?? begin - 200 * day;
          const to = now + 3 * day;
          await partitions.ensureAhead(now);
          const times = [from, ...places.map((place) => Math.floor(from + place * (to - from)))];
          stored.push(...(await storeAt(times, partitions)));

          await remove(instance(days), now);

          stored = stored.filter((id) => id >= firstIdAt(policy.cutoff(now) ?? 0)).sort();
          expect(await store.storedIds()).toEqual(stored);
          await expectNoOverlap(now);
        }
      }),
      { numRuns: 6 },
    );
  }, 300_000);

  it('lists the partitions newest first', async () => {
    await instance(7).partitions.ensureAhead(begin);

    const partitions = await store.partitions.list();

    expect(partitions).toHaveLength(8);
    expect(partitions.at(-1)).toEqual({
      name: 'events_2023_11_20',
      from: firstIdAt(Date.UTC(2023, 10, 20)),
      to: firstIdAt(Date.UTC(2023, 10, 21)),
    });
    expect(partitions.map(({ from }) => from)).toEqual(
      partitions
        .map(({ from }) => from)
        .sort()
        .reverse(),
    );
  });

  it('creates a partition although a table of its name exists', async () => {
    await store.dataSource.query('CREATE TABLE events_2023_11_20 (copy text)');

    await instance(7).partitions.ensureFor([v7({ msecs: begin })]);

    expect(await names()).toEqual(['events_2023_11_20_v2']);
    await store.dataSource.query('DROP TABLE events_2023_11_20');
  });

  it('creates the same partitions once when instances with different settings run side by side', async () => {
    await Promise.all(
      [...instances.values()].flatMap(({ partitions }) => [
        partitions.ensureAhead(begin),
        partitions.ensureAhead(begin + 20 * day),
      ]),
    );

    await expectNoOverlap(begin + 20 * day);
  });
});

/** Expects that partitions do not overlap, and have no gaps from now until the last one created ahead. */
async function expectNoOverlap(now: number): Promise<void> {
  const partitions = (await store.partitions.list()).reverse();
  for (const [index, { to }] of partitions.entries()) {
    const next = partitions[index + 1];
    if (!next) continue;
    expect(to <= next.from).toBe(true);
    if (receivedAt(next.from) > now) expect(to).toBe(next.from);
  }
  expect(receivedAt(partitions.at(-1)?.to ?? '')).toBeGreaterThanOrEqual(now + 7 * day);
}
