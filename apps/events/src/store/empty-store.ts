import type { QueryRunner } from 'typeorm';
import { indexDefinition, retiredIndexes, secondaryIndexes } from './event-indexes.js';

/**
 * Creates the declared indexes in a store without partitions, immediately. Every migration that adds a column with an index calls this
 * function. Leaves out the indexes on columns of later migrations.
 *
 * @returns false when the store has partitions; `EventIndexBuilder` then builds the indexes while the store is in use
 */
export async function createIndexesOfEmptyStore(queryRunner: QueryRunner): Promise<boolean> {
  const [table] = (await queryRunner.query(
    `SELECT array_agg(attname::text) AS columns,
            EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'events'::regclass) AS "hasPartitions"
     FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 AND NOT attisdropped`,
  )) as { columns: string[]; hasPartitions: boolean }[]; // Holds: these are the columns of the statement.
  if (!table || table.hasPartitions) return false;
  const creations = secondaryIndexes
    .filter(({ column }) => table.columns.includes(column))
    .map((index) => `CREATE INDEX IF NOT EXISTS ${index.name} ON events ${indexDefinition(index)}`);
  // Runs in one round trip, because each round trip delays the start with an empty store.
  await queryRunner.query([`DROP INDEX IF EXISTS ${retiredIndexes.join(', ')}`, ...creations].join('; '));
  return true;
}
