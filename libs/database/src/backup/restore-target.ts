import { setTimeout as wait } from 'node:timers/promises';
import { advisoryLocks } from '../advisory-locks.js';
import { migrationsTable } from '../schema-migration.js';
import type { SchemaSession } from './backup-session.js';
import { restoreMark } from './restore-mark.js';

// How long to wait until other sessions have ended. The sessions of services that have just stopped need a moment.
const endingLimitMs = 3_000;
const endingPollMs = 100;

/** What the database contains before the restore. */
export type TargetState = 'empty' | 'occupied' | 'interrupted';

/**
 * Makes sure that no service and no other restore is using the database.
 *
 * @throws Error that says that another restore is running, or names the programs that are connected
 */
export async function refuseOthers(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { client } of sessions.slice(0, 1)) {
    const sql = 'SELECT pg_try_advisory_lock($1) AS "isTaken"';
    const { rows } = await client.query<{ isTaken: boolean }>(sql, [advisoryLocks.restore]);
    if (!rows[0]?.isTaken) throw new Error('Another restore into this database is running.');
  }
  for (const { client } of sessions) {
    const deadline = performance.now() + endingLimitMs;
    for (let names = await findOthers(client); names !== null; names = await findOthers(client)) {
      if (performance.now() > deadline)
        throw new Error(`Programs are using the database: ${names}. Stop all services first.`);
      await wait(endingPollMs);
    }
  }
}

/**
 * Returns the names of other programs that are connected to the database with this session's role, separated by commas; null when there
 * are none. Ignores sessions without a name.
 */
async function findOthers(client: SchemaSession['client']): Promise<string | null> {
  const { rows } = await client.query<{ names: string | null }>(
    `SELECT string_agg(DISTINCT application_name, ', ') AS names FROM pg_stat_activity
     WHERE datname = current_database() AND usename = current_user AND application_name NOT IN ('restore', 'primary-search', '')`,
  );
  return rows[0]?.names ?? null;
}

export async function readState(sessions: readonly SchemaSession[]): Promise<TargetState> {
  let state: TargetState = 'empty';
  for (const { schema, client } of sessions) {
    const { rows } = await client.query<{ comment: string | null; isOccupied: boolean }>(
      `SELECT obj_description(oid, 'pg_namespace') AS comment,
         EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid AND relkind IN ('r', 'p')) AS "isOccupied"
       FROM pg_namespace WHERE nspname = $1`,
      [schema],
    );
    const [found] = rows;
    // A restore marks all schemas before it changes any, so one mark is enough.
    if (found?.comment === restoreMark) return 'interrupted';
    if (found?.isOccupied) state = 'occupied';
  }
  return state;
}

export async function mark(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { schema, client } of sessions) {
    const { rows } = await client.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
    // Avoid IF NOT EXISTS: it requires the right to create schemas even if the schema exists.
    if (rows.length === 0) await client.query(`CREATE SCHEMA ${schema}`);
    await client.query(`COMMENT ON SCHEMA ${schema} IS '${restoreMark}'`);
  }
}

export async function unmark(sessions: readonly SchemaSession[]): Promise<void> {
  for (const { schema, client } of sessions) await client.query(`COMMENT ON SCHEMA ${schema} IS NULL`);
}

/**
 * Drops all tables but keeps the schema, because the role may lack the right to create one. Drops one table per transaction: a partition
 * alone takes more than ten locks, and all locks of a transaction must fit in PostgreSQL's shared memory.
 */
export async function dropTables({ schema, client }: SchemaSession): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `SELECT oid::regclass::text AS table FROM pg_class
     WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p') ORDER BY relispartition DESC`,
    [schema],
  );
  for (const { table } of rows) await client.query(`DROP TABLE IF EXISTS ${table} CASCADE`);
}

/** Removes the rows that migrations inserted. */
export async function emptyTables({ schema, client }: SchemaSession): Promise<void> {
  const tables = (await listTables({ schema, client })).map((name) => `${schema}.${name}`);
  if (tables.length > 0) await client.query(`TRUNCATE ${tables.join(', ')}`);
}

/** Returns a schema's tables, without partitions and the migrations table. */
export async function listTables({ schema, client }: SchemaSession): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> $2
     ORDER BY relname`,
    [schema, migrationsTable],
  );
  return rows.map(({ name }) => name);
}
