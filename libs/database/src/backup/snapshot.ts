import pg from 'pg';
import type { ArchivedSchema } from './archive.js';
import { closeSessions, openSessions, type SchemaAccess, type SchemaSession } from './backup-session.js';
import { refuseIncompleteRestores } from './restore-mark.js';
import { readSchema } from './table-catalog.js';

/** The state of all schemas at one moment. Until the sessions are closed, nobody can alter or drop the tables. */
export interface Snapshot {
  sessions: SchemaSession[];
  schemas: ArchivedSchema[];
  createdAt: string;
}

const maxTries = 3;
const [undefinedTable, lockNotAvailable] = ['42P01', '55P03'];

/**
 * Opens a session per schema, all on one snapshot, and takes an ACCESS SHARE lock on each table. The lock lets services write, and keeps
 * everybody from altering or dropping the table.
 *
 * @throws when the schemas are in several databases, which have no common snapshot, or contain an incomplete restore; also when another
 * session, such as a migration, blocks a table for 30 s
 */
export async function openSnapshot(accesses: readonly SchemaAccess[]): Promise<Snapshot> {
  for (let tries = 1; ; tries += 1) {
    const sessions = await openSessions(accesses, 'backup');
    try {
      const createdAt = await beginTogether(sessions);
      // A restore commits its mark before it changes any table.
      await refuseIncompleteRestores(sessions);
      const schemas: ArchivedSchema[] = [];
      for (const session of sessions) schemas.push(await readAndLock(session));
      return { sessions, schemas, createdAt };
    } catch (error) {
      await closeSessions(sessions);
      // Retention has dropped a partition since the snapshot, so take a new snapshot.
      if (stateOf(error) === undefinedTable && tries < maxTries) continue;
      throw explain(error);
    }
  }
}

async function beginTogether(sessions: readonly SchemaSession[]): Promise<string> {
  let snapshot: string | undefined;
  let createdAt = '';
  for (const { client } of sessions) {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    if (snapshot !== undefined) {
      await client.query(`SET TRANSACTION SNAPSHOT ${pg.escapeLiteral(snapshot)}`);
      continue;
    }
    const { rows } = await client.query<{ snapshot: string; now: Date }>(
      'SELECT pg_export_snapshot() AS snapshot, now()',
    );
    snapshot = rows[0]?.snapshot;
    createdAt = rows[0]?.now.toISOString() ?? '';
  }
  return createdAt;
}

async function readAndLock(session: SchemaSession): Promise<ArchivedSchema> {
  const read = await readSchema(session);
  const names = read.tables.map(({ name }) => `${session.schema}.${name}`);
  if (names.length > 0) await session.client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`);
  return read;
}

function explain(error: unknown): unknown {
  const state = stateOf(error);
  if (state === lockNotAvailable)
    return new Error(
      'Another session, such as a migration, is changing the tables. Try again after it ends.',
      {
        cause: error,
      },
    );
  // The snapshot does not exist on this server (42704; before PostgreSQL 17: 22023), or it is from another database of this server (0A000).
  if (state === '42704' || state === '22023' || state === '0A000')
    return new Error(
      'The services use several databases, which have no common snapshot. Back up each database with pg_dump: see docs/backup.md.',
      { cause: error },
    );
  return error;
}

function stateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}
