import { firstIdAt } from '@stream-events/contracts';
import pg from 'pg';
import { fillStatement } from './fill-statement.js';
import { rangesOf, type EventRange, type Month, type Population } from './population.js';

/** An index of the partitioned table, to create on each partition. */
interface IndexDefinition {
  isPrimaryKey: boolean;
  definition: string;
}

interface TableShape {
  columns: string[];
  indexes: IndexDefinition[];
}

const workers = 2;
const worthALine = 100_000;
const dayMs = 24 * 3_600_000;

/**
 * Fills a database's event store with a population. The events service must have created the schema. The partitions equal those of the
 * service, but get their indexes after their rows, which is faster.
 */
export async function fillStore(
  url: string,
  population: Population,
  onProgress: (line: string) => void,
): Promise<void> {
  const ranges = rangesOf(population);
  const shape = await withClient(url, async (client) => {
    await dropEmptyPartitions(
      client,
      ranges.map(({ month }) => month),
    );
    return readShape(client);
  });
  const waiting = [...ranges];
  const fillNext = async (client: pg.Client): Promise<void> => {
    for (let range = waiting.shift(); range; range = waiting.shift()) {
      await fillPartition(client, range, { population, shape });
      if (range.count >= worthALine) onProgress(`${range.month.name}: ${range.count} events`);
    }
  };
  await Promise.all(Array.from({ length: workers }, () => withClient(url, fillNext)));
  await withClient(url, async (client) => {
    await fillReceivedMessages(client, population.until);
    // Vacuum now, so that autovacuum does not run during a measurement. A vacuum during the fill would have no effect.
    await client.query('VACUUM (FREEZE, ANALYZE) events, received_messages');
  });
}

/** Drops the empty partitions that the service has created. The fill creates them again, with rows. */
async function dropEmptyPartitions(client: pg.Client, months: readonly Month[]): Promise<void> {
  for (const { name } of months) {
    const { rows } = await client.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [
      name,
    ]);
    if (rows[0]?.name == null) continue;
    const { rowCount } = await client.query(`SELECT 1 FROM ${name} LIMIT 1`);
    if (rowCount) throw new Error(`cannot fill the store: ${name} already has events`);
    await client.query(`DROP TABLE ${name}`);
  }
}

async function readShape(client: pg.Client): Promise<TableShape> {
  const columns = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 AND NOT attisdropped`,
  );
  const indexes = await client.query<{ is_primary: boolean; definition: string }>(
    `SELECT indisprimary AS is_primary, pg_get_indexdef(indexrelid) AS definition FROM pg_index
     WHERE indrelid = 'events'::regclass`,
  );
  return {
    columns: columns.rows.map(({ name }) => name),
    indexes: indexes.rows.map(({ is_primary, definition }) => ({ isPrimaryKey: is_primary, definition })),
  };
}

async function fillPartition(
  client: pg.Client,
  range: EventRange,
  { population, shape }: { population: Population; shape: TableShape },
): Promise<void> {
  const { name, from, to } = range.month;
  // Create and fill the table in one transaction: PostgreSQL then writes no WAL for the rows, if `wal_level` is minimal.
  await client.query('BEGIN');
  await client.query(
    `CREATE TABLE ${name} (
       LIKE events INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
       CONSTRAINT ${name}_range CHECK (id >= '${firstIdAt(from)}' AND id < '${firstIdAt(to)}')
     )`,
  );
  await client.query(fillStatement(name, shape.columns, population, range));
  for (const { isPrimaryKey, definition } of shape.indexes)
    await client.query(
      isPrimaryKey
        ? `ALTER TABLE ${name} ADD CONSTRAINT ${name}_pkey PRIMARY KEY (id)`
        : definition.replace(/ INDEX .* ON ONLY \S+ /, ` INDEX ON ${name} `),
    );
  await client.query('COMMIT');
  await client.query(
    `ALTER TABLE events ATTACH PARTITION ${name} FOR VALUES FROM ('${firstIdAt(from)}') TO ('${firstIdAt(to)}')`,
  );
  await client.query(`ALTER TABLE ${name} DROP CONSTRAINT ${name}_range`);
}

/** Adds message keys for the last day's events. The service keeps message keys for at least 25 hours. */
async function fillReceivedMessages(client: pg.Client, until: number): Promise<void> {
  await client.query(
    `INSERT INTO received_messages (key, event_id) SELECT md5(id::text)::uuid, id FROM events WHERE id >= $1`,
    [firstIdAt(until - dayMs)],
  );
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    await client.query('SET search_path = events');
    return await work(client);
  } finally {
    await client.end();
  }
}
