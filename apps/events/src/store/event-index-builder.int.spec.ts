import { jest } from '@jest/globals';
import type { EventFilters, ListEventsRequest } from '@stream-events/contracts';
import { connectClient, MaintenanceSessions } from '@stream-events/database';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvents } from '../../test/new-event.js';
import { schema } from '../events.database.js';
import { eventIndexes, secondaryIndexes } from './event-indexes.js';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { readIndexCatalog, type IndexCatalog } from './index-catalog.js';

// Concurrent writes and reads without limit take most of a slow machine's time, so a build can take long.
const buildLimitMs = 100_000;
// A test creates up to two stores and completes up to two builds.
jest.setTimeout(3 * buildLimitMs);
// The builder waits only briefly for a lock, so on a slow machine several attempts may fail.
const patience = { timeoutMs: 60_000 };

// The partitions of January to April 2025.
const january = Date.UTC(2025, 0, 5);
const times = [january, Date.UTC(2025, 2, 5)];
const june = Date.UTC(2025, 5, 5);
// The newest partition; the builder starts with its indexes.
const newest = 'events_2025_04';
// The indexes that the store lacks, as if this version were the first that declares them.
const missing = secondaryIndexes.filter(({ column }) => ['user_id', 'user_name'].includes(column));

let store: EventStore;
let builders: EventIndexBuilder[];
let metrics: Registry;

beforeEach(async () => {
  builders = [];
  metrics = new Registry();
  store = await EventStore.create();
  for (const time of times) await store.partitions.ensureAhead(time);
  await store.generate(2_000, january, {
    event_id: "'message-' || n",
    event_type: "CASE n % 3 WHEN 0 THEN 'channel-cheer' ELSE 'channel-follow' END",
    broadcaster_user_id: '(n % 10)::text',
    user_id: '(n % 50)::text',
    user_name: "'user_' || n % 50",
  });
  await store.dataSource.query(`DROP INDEX ${missing.map(({ name }) => name).join(', ')}`);
});
afterEach(async () => {
  await Promise.all(builders.map((builder) => builder.stop()));
  await store.close();
});

function createBuilder(registry = new Registry()): EventIndexBuilder {
  const options = {
    url: store.database.urlFor(schema.name),
    schema: schema.name,
    applicationName: 'index-builder',
  };
  const sessions = new MaintenanceSessions(options);
  const logger = createLogger('test', 'silent');
  const builder = new EventIndexBuilder(store.dataSource, sessions, logger, registry);
  builders.push(builder);
  return builder;
}

function areReady(builder: EventIndexBuilder): boolean {
  return eventIndexes.every(({ name }) => builder.isReady(name));
}

function complete(builder: EventIndexBuilder): Promise<void> {
  return eventually(() => expect(areReady(builder)).toBe(true), { timeoutMs: buildLimitMs });
}

/**
 * Returns the catalog of a new store with the same partitions. A new store has all indexes from the start.
 *
 * @param others times of further partitions
 */
async function readFreshCatalog(others: readonly number[] = []): Promise<IndexCatalog> {
  const fresh = await EventStore.create();
  for (const time of times) await fresh.partitions.ensureAhead(time);
  await fresh.partitions.ensureFor(others.map((msecs) => v7({ msecs })));
  const catalog = await readIndexCatalog(fresh.dataSource);
  await fresh.close();
  return catalog;
}

/** Holds the lock of an uncommitted writer on a table. Until it is released, no index of the table can be built. */
async function holdLock(table: string): Promise<{ end: () => Promise<void> }> {
  const writer = await connectClient({
    url: store.database.urlFor(schema.name),
    schema: schema.name,
    applicationName: 'writer',
    statementTimeoutMs: 300_000,
  });
  await writer.query('BEGIN');
  await writer.query(`LOCK TABLE ONLY ${table} IN ROW EXCLUSIVE MODE`);
  return { end: () => writer.end() };
}

/** Waits until some session is waiting for a lock on the table. */
function waitForLock(table: string): Promise<void> {
  return eventually(async () => {
    const waiting = await store.dataSource.query<unknown[]>(
      'SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted',
      [table],
    );
    expect(waiting).toHaveLength(1);
  }, patience);
}

/** Waits until a build is waiting for a writer, and returns the process id of the build's session. */
function waitForBlockedBuild(): Promise<number> {
  return eventually(async () => {
    const [row] = await store.dataSource.query<{ pid: number }[]>(
      `SELECT pid FROM pg_stat_progress_create_index
       WHERE datname = current_database() AND phase LIKE 'waiting for writers%'`,
    );
    if (!row) throw new Error('no build waits for a writer');
    return row.pid;
  }, patience);
}

/** Pages through the whole list and counts the events. */
async function countListed(filters: EventFilters): Promise<number> {
  let position: ListEventsRequest['position'];
  let count = 0;
  do {
    const page = await store.list.list({ filters, limits: {}, pageSize: 50, ...(position && { position }) });
    count += page.events.length;
    position = page.next ?? undefined;
  } while (position);
  return count;
}

async function countInvalid(table: string): Promise<number> {
  const { indexes } = await readIndexCatalog(store.dataSource);
  return indexes.filter((index) => index.table === table && !index.isValid).length;
}

describe(EventIndexBuilder.name, () => {
  it('gives a store the indexes that it lacks, while events are stored and listed', async () => {
    const builder = createBuilder(metrics);
    let isDone = false;
    let batches = 0;
    const stored = new Set(await store.storedIds());
    const write = async (): Promise<void> => {
      while (!isDone) {
        const msecs = [...times, june, Date.now()][batches % 4] ?? 0;
        const events = newEvents(20).map((event) => ({ ...event, id: v7({ msecs: msecs + batches }) }));
        for (const { id, outcome } of await store.writer.store(events)) {
          expect(outcome).toBe('stored');
          stored.add(id);
        }
        batches += 1;
      }
    };
    const read = async (filters: EventFilters): Promise<void> => {
      while (!isDone) {
        const { events } = await store.list.list({ filters, limits: {}, pageSize: 50 });
        expect(events.length).toBeGreaterThan(0);
      }
    };
    // The list always has 40 events of January, whether or not the index is ready.
    const walk = async (filters: EventFilters): Promise<void> => {
      while (!isDone) expect(await countListed(filters)).toBe(40);
    };

    await builder.start();
    store.indexes = builder;
    const work = [write(), read({}), read({ eventType: 'channel-follow' }), walk({ userId: '7' }), walk({ userName: 'user_7' })]; // prettier-ignore
    await Promise.race([complete(builder), Promise.all(work)]);
    isDone = true;
    await Promise.all(work);

    expect(batches).toBeGreaterThan(0);
    expect(await store.storedIds()).toEqual([...stored].sort());
    expect(await readIndexCatalog(store.dataSource)).toEqual(await readFreshCatalog([june, Date.now()]));
    expect(await metrics.metrics()).toContain('events_index_steps_remaining 0');
  });

  it('has nothing to do in a fresh store', async () => {
    const fresh = await EventStore.create();
    const catalog = await readIndexCatalog(fresh.dataSource);
    const options = { url: 'postgres://127.0.0.1:1/none', schema: schema.name, applicationName: 'none' };
    // These sessions cannot connect, so any step would fail.
    const builder = new EventIndexBuilder(fresh.dataSource, new MaintenanceSessions(options), createLogger('test', 'silent'), metrics); // prettier-ignore

    await builder.start();

    expect(areReady(builder)).toBe(true);
    expect(catalog.indexes.map(({ name }) => name)).toEqual(eventIndexes.map(({ name }) => name).sort());
    expect(await metrics.metrics()).toContain('events_index_steps_remaining 0');
    await builder.stop();
    await fresh.close();
  });

  it('considers an index as ready only when every partition has it', async () => {
    const writer = await holdLock(newest);
    const builder = createBuilder(metrics);
    await builder.start();
    await waitForBlockedBuild();

    const unready = eventIndexes.filter(({ name }) => !builder.isReady(name));

    expect(unready).toEqual(missing);
    // Four partitions, each with one step per index.
    expect(await metrics.metrics()).toContain(`events_index_steps_remaining ${missing.length * 4}`);
    await writer.end();
  });

  it('continues after the connection of its session is lost in the middle of a build', async () => {
    const writer = await holdLock(newest);
    const builder = createBuilder();
    await builder.start();
    const pid = await waitForBlockedBuild();
    await store.dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
    await eventually(async () => {
      expect(await countInvalid(newest)).toBe(1);
    });

    await writer.end();
    await complete(builder);

    expect(await readIndexCatalog(store.dataSource)).toEqual(await readFreshCatalog());
  });

  it('stops in the middle of a build, and the next start discards the unfinished index and completes the others', async () => {
    const writer = await holdLock(newest);
    const builder = createBuilder();
    await builder.start();
    await waitForBlockedBuild();

    await builder.stop();

    await eventually(async () => {
      expect(
        await store.dataSource.query(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'index-builder'",
        ),
      ).toEqual([]);
    });
    expect(await countInvalid(newest)).toBe(1);
    await writer.end();
    const next = createBuilder();
    await next.start();
    await complete(next);
    expect(await readIndexCatalog(store.dataSource)).toEqual(await readFreshCatalog());
  });

  it('builds each index once when two instances start at the same time, and tells both when it is ready', async () => {
    const pair = [createBuilder(), createBuilder()];

    await Promise.all(pair.map((builder) => builder.start()));
    await Promise.all(pair.map(complete));

    expect(await readIndexCatalog(store.dataSource)).toEqual(await readFreshCatalog());
  });

  it('gives its indexes to partitions that are created, and skips partitions that are dropped, while it builds', async () => {
    const writer = await holdLock(newest);
    const builder = createBuilder();
    await builder.start();
    await waitForBlockedBuild();

    await store.partitions.ensureFor([v7({ msecs: june })]);
    await store.dataSource.query('DROP TABLE events_2025_02');
    await writer.end();
    await complete(builder);

    const expected = await readFreshCatalog([june]);
    expect(await readIndexCatalog(store.dataSource)).toEqual({
      partitions: expected.partitions.filter((name) => name !== 'events_2025_02'),
      indexes: expected.indexes.filter(({ table }) => table !== 'events_2025_02'),
    });
  });

  it('waits for a lock on the table only briefly, so that no statement of others waits long', async () => {
    const other = await holdLock('events');
    const builder = createBuilder();
    await builder.start();

    // The write waits behind the builder, which gives up after half a second.
    await waitForLock('events');
    await store.writer.store(newEvents(1));

    await other.end();
    await complete(builder);
  });
});
