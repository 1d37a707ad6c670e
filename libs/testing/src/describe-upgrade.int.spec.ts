import { DataSource } from 'typeorm';
import { readSnapshot } from './describe-upgrade.js';
import { findBreaks } from './schema-breaks.js';
import { createEmptyDatabase, type TestDatabase } from './test-database.js';

const schema = 'shop';
const setup = [
  `CREATE SCHEMA ${schema}`,
  `SET search_path = ${schema}`,
  `CREATE TABLE orders (id uuid, number bigint GENERATED ALWAYS AS IDENTITY, state text DEFAULT 'new', note text NOT NULL,
     amount integer, CONSTRAINT orders_pkey PRIMARY KEY (id))`,
  'CREATE UNIQUE INDEX orders_note ON orders (note)',
];

let database: TestDatabase;
let dataSource: DataSource;
beforeEach(async () => {
  database = await createEmptyDatabase([]);
  dataSource = await new DataSource({ type: 'postgres', url: database.url, poolSize: 1 }).initialize();
  for (const statement of setup) await dataSource.query(statement);
});
afterEach(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function breaksAfter(...statements: string[]): Promise<string[]> {
  const previous = await readSnapshot(dataSource, schema);
  for (const statement of statements) await dataSource.query(statement);
  return findBreaks(previous, await readSnapshot(dataSource, schema));
}

describe(findBreaks.name, () => {
  it.each([
    ['ALTER TABLE orders DROP COLUMN amount', 'orders.amount is removed or renamed'],
    ['ALTER TABLE orders RENAME COLUMN amount TO total', 'orders.amount is removed or renamed'],
    ['ALTER TABLE orders ALTER COLUMN amount TYPE bigint', 'orders.amount has the type int8 instead of int4'],
    ['ALTER TABLE orders ALTER COLUMN amount SET NOT NULL', 'orders.amount may no longer be NULL'],
    ['ALTER TABLE orders ALTER COLUMN state DROP DEFAULT', 'orders.state has lost its default'],
    [
      'ALTER TABLE orders ADD COLUMN by text NOT NULL',
      'orders.by is new, and has neither a default nor NULL',
    ],
    ['ALTER TABLE orders ADD CONSTRAINT paid CHECK (amount > 0)', 'orders has the new check paid'],
    ['ALTER TABLE orders ADD CONSTRAINT once UNIQUE (amount)', 'orders has the new unique once'],
    ['CREATE UNIQUE INDEX once ON orders (amount)', 'orders has the new unique once'],
    ['ALTER TABLE orders DROP CONSTRAINT orders_pkey', 'orders has lost its key PRIMARY KEY (id)'],
    ['DROP INDEX orders_note', 'orders has lost its key  USING btree (note)'],
  ])('finds the break of %s', async (statement, expected) => {
    expect(await breaksAfter(statement)).toEqual([expected]);
  });

  it('finds every column of a table that is dropped', async () => {
    const breaks = await breaksAfter('DROP TABLE orders');
    expect(breaks.filter((line) => line.endsWith('is removed or renamed'))).toHaveLength(5);
  });

  it('accepts what an instance of the previous release does not notice', async () => {
    const breaks = await breaksAfter(
      'ALTER TABLE orders ADD COLUMN by text, ADD COLUMN is_paid boolean NOT NULL DEFAULT false',
      'CREATE TABLE refunds (id uuid NOT NULL, reason text NOT NULL, CHECK (reason <> $$$$))',
      'CREATE INDEX orders_amount ON orders (amount)',
      'ALTER TABLE orders ALTER COLUMN note DROP NOT NULL',
      'ALTER TABLE orders RENAME CONSTRAINT orders_pkey TO orders_key',
    );
    expect(breaks).toEqual([]);
  });

  it('counts a view with the old name as the table, except for its keys', async () => {
    const breaks = await breaksAfter(
      'ALTER TABLE orders RENAME TO purchases',
      'CREATE VIEW orders AS SELECT id, number, state, note, amount FROM purchases',
    );
    expect(breaks.sort()).toEqual([
      'orders has lost its key  USING btree (note)',
      'orders has lost its key PRIMARY KEY (id)',
    ]);
  });
});
