import { derivedColumns, readEventColumns } from '@stream-events/contracts';
import { connectDatabase } from '@stream-events/database';
import { PartitionsRepository, schema } from '@stream-events/events/benchmark';
import { createTestDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { fillStore } from './fill-store.js';
import { choosePopulation, monthsOf } from './population.js';

const population = choosePopulation(5_000, 3, Date.UTC(2026, 10, 22, 12));

interface Row extends Record<string, unknown> {
  event_type: string;
  data: string;
}

/** An event store in its own database, filled with the population. */
class FilledStore {
  private constructor(
    private readonly database: TestDatabase,
    readonly dataSource: DataSource,
  ) {}

  static async create(): Promise<FilledStore> {
    const database = await createTestDatabase();
    const { entities, migrations, name } = schema;
    const dataSource = await connectDatabase({
      url: database.urlFor('events'),
      schema: name,
      applicationName: 'fill-test',
      entities,
      migrations,
      poolSize: 2,
    });
    // The service creates these partitions at startup.
    await new PartitionsRepository(dataSource).ensureAhead(population.until);
    await fillStore(database.urlFor('events'), population, () => undefined);
    return new FilledStore(database, dataSource);
  }

  async drop(): Promise<void> {
    await this.dataSource.destroy();
    await this.database.drop();
  }

  query<T extends object>(sql: string, values: unknown[] = []): Promise<T[]> {
    return this.dataSource.query<T[]>(sql, values);
  }
}

describe(fillStore.name, () => {
  let store: FilledStore;
  let rows: Row[];

  beforeAll(async () => {
    store = await FilledStore.create();
    rows = await store.query('SELECT *, event_data::text AS data FROM events ORDER BY id');
  }, 180_000);

  afterAll(() => store.drop());

  it('writes the number of events of the population', () => {
    expect(rows).toHaveLength(population.events);
  });

  it('writes the columns that the service derives from the data', () => {
    for (const row of rows) {
      const columns = readEventColumns(row.event_type, row.data);
      for (const { name, field } of derivedColumns) expect([name, row[name]]).toEqual([name, columns[field]]);
    }
  });

  it('creates the partitions that the service would create, with all indexes of the partitioned table', async () => {
    const months = monthsOf(population).map(({ name }) => name);
    const partitions = `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'events'::regclass`;
    const before = await store.query<{ name: string }>(partitions);
    await new PartitionsRepository(store.dataSource).ensureFor(rows.map(({ id }) => String(id)));

    expect(before.map(({ name }) => name)).toEqual(expect.arrayContaining(months));
    expect(await store.query(partitions)).toEqual(before);
    const missing = await store.query(
      `SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'events'::regclass
       AND ($1 <> (SELECT count(*) FROM pg_inherits WHERE inhparent = indexrelid) OR NOT indisvalid)`,
      [before.length],
    );
    expect(missing).toEqual([]);
  });
});
