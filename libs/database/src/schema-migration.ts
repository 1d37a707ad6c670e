import { createHash } from 'node:crypto';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A migration class, whose name TypeORM records. */
export type Migration = new () => MigrationInterface;

/** TypeORM's table of completed migrations, in each schema. */
export const migrationsTable = 'migrations';

/** Runs a statement that returns names. */
type ReadNames = (sql: string) => Promise<{ name: string | null }[]>;

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

/** Returns the names of a schema's migrations, in the order in which they ran; none if the schema does not exist. */
export async function readMigrations(schema: string, read: ReadNames): Promise<string[]> {
  const table = `${schema}.${migrationsTable}`;
  const [found] = await read(`SELECT to_regclass('${table}')::text AS name`);
  if (found?.name == null) return [];
  return (await read(`SELECT name FROM ${table} ORDER BY id`)).map(({ name }) => String(name));
}

/**
 * Checks that the migration that created a schema is the first of this version's migrations. Changes nothing. Accepts a schema that does
 * not exist or has no migrations yet.
 *
 * @throws Error that names both migrations
 */
export async function refuseUnknownSchema(
  schema: string,
  [known]: readonly { name: string }[],
  read: ReadNames,
): Promise<void> {
  const [found] = await readMigrations(schema, read);
  if (found === undefined || !known || found === known.name) return;
  throw new Error(
    `another version created the schema ${schema}: its migration is ${found}, and this version knows ${known.name}. ` +
      'Nothing was changed. Before 1.0.0, no version reads the data of another. Start the version that created the schema, or ' +
      'start afresh: stop all services, then delete the data folder of npm start, or the schemas and streams on your own servers ' +
      '("Start afresh" in docs/upgrade.md).',
  );
}
