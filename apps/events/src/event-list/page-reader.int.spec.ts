import { jest } from '@jest/globals';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvent } from '../../test/new-event.js';
import { PageReader } from './page-reader.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());

async function storeAt(msecs: number, user = 'somebody'): Promise<string> {
  const event = newEvent({ id: v7({ msecs }), eventData: JSON.stringify({ user_id: user }) });
  await store.writer.store([event]);
  return event.id;
}

async function listIds(filters = {}): Promise<string[]> {
  const { events } = await store.list.list({ filters, limits: {}, pageSize: 100 });
  return events.map(({ id }) => id);
}

describe(PageReader.name, () => {
  it('reads an event as soon as it is stored, also in a new partition and in one that was empty', async () => {
    expect(await listIds()).toEqual([]);
    const first = await storeAt(Date.UTC(2025, 2, 5));
    expect(await listIds()).toEqual([first]);
    // April's partition already exists, but is empty.
    await store.partitions.ensureAhead(Date.UTC(2025, 3, 1));
    expect(await listIds({ userId: 'somebody' })).toEqual([first]);
    const inEmpty = await storeAt(Date.UTC(2025, 3, 5));
    expect(await listIds({ userId: 'somebody' })).toEqual([inEmpty, first]);
    const inNewer = await storeAt(Date.UTC(2026, 3, 5));
    const inOlder = await storeAt(Date.UTC(2024, 3, 5));
    expect(await listIds({ eventType: 'channel-follow' })).toEqual([inNewer, inEmpty, first, inOlder]);
  });

  it('reads the rest after the partitions that it knew were dropped', async () => {
    const kept = await storeAt(Date.UTC(2027, 5, 5), 'dropped');
    const dropped = await storeAt(Date.UTC(2027, 8, 5), 'dropped');
    expect(await listIds({ userId: 'dropped' })).toEqual([dropped, kept]);
    const partitions = await store.partitions.list();
    const newest = partitions.find(({ from, to }) => from <= dropped && dropped < to);

    await store.dataSource.query(`DROP TABLE ${newest?.name}`);

    expect(await listIds({ userId: 'dropped' })).toEqual([kept]);
    expect(await listIds({ userId: 'dropped', origin: 'platform', eventSource: 'PlatformSub' })).toEqual([
      kept,
    ]);
  });

  it('finds a value whose only event is in the oldest of many partitions, in few statements', async () => {
    const only = await storeAt(Date.UTC(2020, 0, 5), 'ancient');
    for (let month = 1; month < 40; month += 1) await storeAt(Date.UTC(2020, month, 5), 'recent');

    const query = jest.spyOn(store.listPool, 'query');
    expect(await listIds({ userId: 'ancient' })).toEqual([only]);

    // The statements read 1, 1, 2, 4, 8, 16, and 32 partitions. Rereading the catalog adds up to four.
    expect(query.mock.calls.length).toBeLessThanOrEqual(12);
    query.mockRestore();
  });
});
