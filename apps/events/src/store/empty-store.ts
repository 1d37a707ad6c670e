import type { QueryRunner } from 'typeorm';
import { indexDefinition, secondaryIndexes } from './event-indexes.js';

/**
 * If the store has no partitions, creates the declared indexes at once. Call this from every migration that adds a column with an index.
 * Skips indexes on columns that later migrations add.
 *
 * @returns false when the store has partitions: `EventIndexBuilder` then builds the indexes while the store is in use
 */
export async function createIndexesOfEmptyStore(queryRunner: QueryRunner): Promise<boolean> {
  const [table] = (await queryRunner.query(
    `SELECT array_agg(attname::text) AS columns,
            EXISTS (SELECT FROM pg_inherits WHERE inhparent = 'events'::regclass) AS "hasPartitions"
     FROM pg_attribute WHERE attrelid = 'events'::regclass AND attnum > 0 AND NOT attisdropped`,
  )) as { columns: string[]; hasPartitions: boolean }[]; // Safe cast: these are the columns of the statement.
  if (!table || table.hasPartitions) return false;
  const creations = secondaryIndexes
    .filter(({ column }) => table.columns.includes(column))
    .map((index) => `CREATE INDEX IF NOT EXISTS ${index.name} ON events ${indexDefinition(index)}`);
  // Use one round trip: on a new installation, the start waits for it.
  await queryRunner.query(creations.join('; '));
  return true;
}
