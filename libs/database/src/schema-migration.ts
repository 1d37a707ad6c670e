import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration class, whose name TypeORM records. */
export type Migration = new () => MigrationInterface;

/** Runs a statement on the connection that migrates or restores a schema. */
type Query = (sql: string) => Promise<{ name: string | null }[]>;

// TypeORM sorts migrations by the last 13 digits of their names. This prefix puts a hash before the times of all later migrations.
const hashPrefix = '100';

/**
 * Returns the migration that creates a schema. Until version 1.0.0, this migration is changed in place instead of adding others, so its
 * name ends in a hash of its SQL. `refuseUnknownSchema` compares the names.
 */
export function createSchemaMigration(name: string, statements: readonly string[]): Migration {
  // Send everything in one round trip, because every test and every installation waits for this migration.
  const sql = statements.join(';\n');
  const hash = createHash('sha256').update(sql).digest().readUIntBE(0, 6) % 1e10;
  const migration = class implements MigrationInterface {
    async up(queryRunner: QueryRunner): Promise<void> {
      await queryRunner.query(sql);
    }

    down(): Promise<void> {
      return Promise.reject(new Error('Migrations go forward only: restore a backup instead.'));
    }
  };
  Object.defineProperty(migration, 'name', { value: name + hashPrefix + String(hash).padStart(10, '0') });
  return migration;
}

/**
 * Checks that the migration that created a schema is the first of this version's migrations. Changes nothing. Accepts a schema that does
 * not exist or has no migrations yet.
 *
 * @throws Error that names both migrations
 */
export async function refuseUnknownSchema(
  schema: string,
  migrations: readonly { name: string }[],
  query: Query,
): Promise<void> {
  const [table] = await query(`SELECT to_regclass('${schema}.migrations')::text AS name`);
  if (table?.name == null) return;
  const [found] = await query(`SELECT name FROM ${schema}.migrations ORDER BY id LIMIT 1`);
  const [known] = migrations;
  if (!found || !known || found.name === known.name) return;
  throw new Error(
    `another version created the schema ${schema}: its migration is ${found.name}, and this version knows ${known.name}. ` +
      'Nothing was changed. Before 1.0.0, no version reads the data of another. Start the version that created the schema, or ' +
      'start afresh: stop all services, then delete the data folder of npm start, or the schemas and streams on your own servers ' +
      '("Start afresh" in docs/operations.md).',
  );
}
