import { jest } from '@jest/globals';
import { claimStoreFor } from '@stream-events/database';
import { describeUpgrade } from '@stream-events/testing';
import { EventStore } from '../../test/event-store.js';
import { explain } from '../../test/explain.js';
import { schema } from '../events.database.js';
import { eventIndexes } from './event-indexes.js';
import { PartitionsRepository } from './partitions.repository.js';

let store: EventStore;
beforeAll(async () => {
  store = await EventStore.create();
});
afterAll(() => store.close());

interface ColumnRow {
  table: string;
  column: string;
  type: string;
  isNullable: boolean;
  isPrimary: boolean;
}

async function readTables(): Promise<Map<string, ColumnRow[]>> {
  const rows = await store.dataSource.query<ColumnRow[]>(
    `SELECT c.table_name AS table, c.column_name AS column, c.is_nullable = 'YES' AS "isNullable",
            CASE c.data_type WHEN 'ARRAY' THEN ltrim(c.udt_name, '_') || '[]' ELSE c.data_type END AS type,
            EXISTS (
              SELECT FROM information_schema.key_column_usage k
              JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name)
              WHERE t.constraint_type = 'PRIMARY KEY' AND t.table_schema = c.table_schema
                AND k.table_name = c.table_name AND k.column_name = c.column_name
            ) AS "isPrimary"
     FROM information_schema.columns c WHERE c.table_schema = 'events' ORDER BY 1, 2`,
  );
  const tables = new Map<string, ColumnRow[]>();
  for (const row of rows) tables.set(row.table, [...(tables.get(row.table) ?? []), row]);
  return tables;
}

describe('the schema of the event store', () => {
  it('matches the entities: columns, types, nullability, primary keys', async () => {
    const tables = await readTables();

    for (const entity of store.dataSource.entityMetadatas) {
      const declared = entity.columns.map((column): ColumnRow => ({
        table: entity.tableName,
        column: column.databaseName,
        type:
          store.dataSource.driver.normalizeType(column).replace('timestamptz', 'timestamp with time zone') +
          (column.isArray ? '[]' : ''),
        isNullable: column.isNullable,
        isPrimary: column.isPrimary,
      }));
      expect(declared.sort((a, b) => (a.column < b.column ? -1 : 1))).toEqual(tables.get(entity.tableName));
    }
    expect(store.dataSource.entityMetadatas).toHaveLength(12);
  });

  it("has an entity for each table except single-row tables and TypeORM's own", async () => {
    const known = store.dataSource.entityMetadatas.map((entity) => entity.tableName);

    const others = [...(await readTables()).keys()].filter((table) => !known.includes(table));

    expect(others.sort()).toEqual(['event_stream', 'migrations', 'retention', 'store_identity']);
  });
});

describe(PartitionsRepository.name, () => {
  async function readPartitions(): Promise<Record<string, unknown>[]> {
    return store.dataSource.query(
      `SELECT inhrelid::regclass::text AS name,
              (SELECT count(*)::int FROM pg_index WHERE indrelid = inhrelid) AS indexes,
              (SELECT array_agg(conname::text ORDER BY conname) FROM pg_constraint
               WHERE conrelid = inhrelid AND contype = 'c') AS checks
       FROM pg_inherits WHERE inhparent = 'events'::regclass ORDER BY 1`,
    );
  }

  it('creates a partition once, with all indexes and checks, when many requests arrive at the same time', async () => {
    const january = Date.UTC(2022, 0, 31);

    await Promise.all(Array.from({ length: 12 }, () => store.partitions.ensureAhead(january)));

    const checks = ['events_event_data_check', 'events_origin_check'];
    expect(await readPartitions()).toEqual([
      { name: 'events_2022_01', indexes: eventIndexes.length, checks },
      { name: 'events_2022_02', indexes: eventIndexes.length, checks },
    ]);
  });

  it('does not block ingest while it creates a partition', async () => {
    await store.partitions.ensureAhead(Date.now());
    const reading = await store.beginTransaction();
    // A transaction that has read and written holds its locks until it ends.
    await reading.query("UPDATE events SET event_type = event_type WHERE origin = 'nobody'");

    await store.partitions.ensureAhead(Date.UTC(2030, 0));

    await reading.rollbackTransaction();
    await reading.release();
    expect((await readPartitions()).map(({ name }) => name)).toContain('events_2030_01');
  });
});

describe(claimStoreFor.name, () => {
  it('accepts only one platform from then on, even when two instances start at the same time', async () => {
    await Promise.all([
      claimStoreFor('simulator', store.dataSource),
      claimStoreFor('simulator', store.dataSource),
    ]);

    await expect(claimStoreFor('simulator', store.dataSource)).resolves.toBeUndefined();
    await expect(claimStoreFor('twitch', store.dataSource)).rejects.toThrow(
      'holds the data of platform simulator, but PLATFORM is twitch',
    );
  });
});

describe('forgetOldMessages', () => {
  it('deletes keys that were received over 25 hours ago, in batches, and keeps the rest', async () => {
    await store.clear();
    await store.dataSource.query(
      `INSERT INTO received_messages
       SELECT gen_random_uuid(), gen_random_uuid(), now() - CASE WHEN n <= 10005 THEN interval '25 hours 1 minute' ELSE interval '24 hours 59 minutes' END
       FROM generate_series(1, 10010) AS n`,
    );

    expect([await store.events.forgetOldMessages(), await store.events.forgetOldMessages(), await store.events.forgetOldMessages()]).toEqual([10_000, 5, 0]); // prettier-ignore
    expect(await store.count('received_messages')).toBe(5);
  });

  it('keeps keys that only one of two clocks counts as old', async () => {
    await store.clear();
    await store.dataSource.query(
      "INSERT INTO received_messages VALUES (gen_random_uuid(), gen_random_uuid(), now() - interval '26 hours')",
    );
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockImplementation(() => now - 2 * 3_600_000);

    expect(await store.events.forgetOldMessages()).toBe(0);

    clock.mockRestore();
    expect(await store.events.forgetOldMessages()).toBe(1);
  });

  it('finds old keys by an index, even when the statistics are stale and count many old keys', async () => {
    await store.clear();
    await store.dataSource.query('ALTER TABLE received_messages SET (autovacuum_enabled = false)');
    // In this random order, scanning the table looks cheaper to the planner: it seems to find enough old keys soon.
    await store.dataSource.query(
      `INSERT INTO received_messages
       SELECT gen_random_uuid(), gen_random_uuid(), now() - random() * interval '50 hours' FROM generate_series(1, 100000)`,
    );
    await store.dataSource.query('ANALYZE received_messages');
    await store.dataSource.query(
      "DELETE FROM received_messages WHERE received_at < now() - interval '24 hours'",
    );
    const query = jest.spyOn(store.dataSource, 'query');
    await store.events.forgetOldMessages();
    const [statement = '', values = []] = query.mock.lastCall ?? [];
    query.mockRestore();

    const plan = await explain(store.dataSource, statement, values as unknown[]);

    expect(JSON.stringify(plan)).toContain('received_messages_received_at_index');
  });
});

describeUpgrade(schema);
