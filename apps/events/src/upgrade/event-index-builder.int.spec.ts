import { jest } from '@jest/globals';
import type { EventFilters, ListEventsRequest } from '@stream-events/contracts';
import { connectClient, MaintenanceSessions } from '@stream-events/database';
import { createLogger, Registry } from '@stream-events/service';
import { eventually } from '@stream-events/testing';
import type { Client } from 'pg';
import type { DataSource } from 'typeorm';
import { v7 } from 'uuid';
import { EventStore } from '../../test/event-store.js';
import { newEvents } from '../../test/new-event.js';
import { asOldStore } from '../../test/old-store.js';
import { schema } from '../events.database.js';
import { eventIndexes, primaryKey, retiredIndexes } from '../store/event-indexes.js';
import { EventIndexBuilder } from './event-index-builder.service.js';
import { isUnderMaintenance, readIndexCatalog, type IndexCatalog } from './index-catalog.js';

// Concurrent writes and reads without limit take most of a slow machine's time, so a build can take long.
const buildLimitMs = 100_000;
// A test creates up to two stores and completes up to two builds.
jest.setTimeout(3 * buildLimitMs);
// The builder waits only briefly for a lock, so on a slow machine several attempts may fail.
const patience = { timeoutMs: 60_000 };

// The partitions of January to April 2025.
const times = [Date.UTC(2025, 0, 5), Date.UTC(2025, 2, 5)];
const april = Date.UTC(2025, 3, 5);
const june = Date.UTC(2025, 5, 5);
// The newest partition; the builder starts with its indexes.
const newest = 'events_2025_04';

let store: EventStore;
let builders: EventIndexBuilder[];
let metrics: Registry;

beforeEach(async () => {
  builders = [];
  metrics = new Registry();
  store = await EventStore.create(asOldStore(times, fill));
});
afterEach(async () => {
  await Promise.all(builders.map((builder) => builder.stop()));
  await store.close();
});

/** Stores 2,000 events in January, like an instance of the old version. */
function fill(old: DataSource): Promise<unknown> {
  return old.query(
    `INSERT INTO events (id, event_id, event_type, event_source, origin, event_data, broadcaster_user_id, user_id, user_name)
     SELECT (lpad(to_hex(${times[0]}::bigint + n), 12, '0') || '7000' || lpad(to_hex(n), 16, '8'))::uuid, 'message-' || n,
            CASE n % 3 WHEN 0 THEN 'channel-cheer' ELSE 'channel-follow' END, 'PlatformSub', 'platform', '{}',
            (n % 10)::text, (n % 50)::text, 'user_' || n % 50
     FROM generate_series(1, 2000) AS n`,
  );
}

function createBuilder(
  registry = new Registry(),
  logger = createLogger('test', 'silent'),
): EventIndexBuilder {
  const options = {
    url: store.database.urlFor(schema.name),
    schema: schema.name,
    applicationName: 'index-builder',
  };
  const sessions = new MaintenanceSessions(options);
  const builder = new EventIndexBuilder(store.dataSource, sessions, logger, registry);
  builders.push(builder);
  return builder;
}

function areReady(builder: EventIndexBuilder): boolean {
  return eventIndexes.every(({ name }) => builder.isReady(name));
}

/** Waits until the indexes are complete and the retired ones are gone. */
async function complete(builder: EventIndexBuilder): Promise<void> {
  await eventually(
    async () => {
      expect(areReady(builder)).toBe(true);
      const names = (await readIndexCatalog(store.dataSource)).indexes.map(({ name }) => name);
      expect(names.filter((name) => retiredIndexes.includes(name))).toEqual([]);
    },
    { timeoutMs: buildLimitMs },
  );
}

/**
 * Returns the catalog of a new store with the partitions of the old store. A new store has the final indexes from the start.
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

/** Holds a lock on a table, by default the lock of an uncommitted writer. Until it is released, no index of the partition can be built. */
async function holdLock(table: string, mode = 'ROW EXCLUSIVE'): Promise<{ end: () => Promise<void> }> {
  const writer = await openSession('writer');
  await writer.query('BEGIN');
  await writer.query(`LOCK TABLE ONLY ${table} IN ${mode} MODE`);
  return { end: () => writer.end() };
}

function openSession(applicationName: string): Promise<Client> {
  const url = store.database.urlFor(schema.name);
  return connectClient({ url, schema: schema.name, applicationName, statementTimeoutMs: 300_000 });
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
    const page = await store.list.list({ filters, pageSize: 50, ...(position && { position }) });
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
  it('migrates a store of an earlier version to the indexes of a fresh one, while events are stored and listed', async () => {
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
        const { events } = await store.list.list({ filters, pageSize: 50 });
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
    expect(await metrics.metrics()).toContain('events_index_steps_remaining{kind="build"} 0');
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
    expect(await metrics.metrics()).toContain('events_index_steps_remaining{kind="drop"} 0');
    await builder.stop();
    await fresh.close();
  });

  it('keeps the indexes of earlier versions until all others are ready', async () => {
    const writer = await holdLock(newest);
    const builder = createBuilder(metrics);
    await builder.start();
    await waitForBlockedBuild();

    const names = (await readIndexCatalog(store.dataSource)).indexes.map(({ name }) => name);

    expect(names).toEqual(expect.arrayContaining([...retiredIndexes]));
    expect(areReady(builder)).toBe(false);
    expect([primaryKey.name, 'events_event_type_index'].every((name) => builder.isReady(name))).toBe(true);
    expect(await metrics.metrics()).toContain(
      `events_index_steps_remaining{kind="drop"} ${retiredIndexes.length}`,
    );
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

  it('drops an old index only when no vacuum holds a lock, so that readers and writers do not wait for the vacuum', async () => {
    const builder = createBuilder();
    await builder.start();
    await complete(builder);
    await builder.stop();
    const [retired = ''] = retiredIndexes;
    await store.dataSource.query(`CREATE INDEX ${retired} ON events (event_source, id)`);
    const vacuum = await holdLock(newest, 'SHARE UPDATE EXCLUSIVE');
    const logger = createLogger('test', 'silent');
    const reports: string[] = [];
    logger.info = (...parts: unknown[]) => void reports.push(String(parts.at(-1)));

    const next = createBuilder(metrics, logger);
    await next.start();

    await eventually(() => expect(reports.join()).toContain('the events table is busy'), patience);
    expect(await metrics.metrics()).toContain('events_index_steps_remaining{kind="drop"} 1');
    await vacuum.end();
    await complete(next);
  });

  it('drops an old index without a deadlock with a page, which locks its partition and then the empty ones', async () => {
    await store.writer.store(newEvents(1).map((event) => ({ ...event, id: v7({ msecs: april }) })));
    const builder = createBuilder();
    await builder.start();
    await complete(builder);
    await builder.stop();
    const [retired = ''] = retiredIndexes;
    await store.dataSource.query(`CREATE INDEX ${retired} ON events (event_source, id)`);
    const page = await openSession('page');
    await page.query("SET lock_timeout = '100ms'");
    await page.query('BEGIN');
    await page.query(`SELECT FROM ${newest}`);

    const next = createBuilder();
    await next.start();
    await waitForLock(newest);
    const size = page.query("SELECT pg_relation_size('events_2025_02')");

    await expect(size).resolves.toMatchObject({ rows: [{ pg_relation_size: '0' }] });
    await page.end();
    await complete(next);
  });

  it.each([
    ['ROW EXCLUSIVE', 'a writer', false],
    ['SHARE UPDATE EXCLUSIVE', 'a vacuum', true],
  ])('considers %s, the lock of %s, as maintenance: %s', async (mode, _, isMaintenance) => {
    const session = await holdLock('events_2025_01', mode);

    // Retry, because autovacuum may be working on the table.
    await eventually(async () => expect(await isUnderMaintenance(store.dataSource)).toBe(isMaintenance));

    await session.end();
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
