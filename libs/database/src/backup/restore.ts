import { migrateDatabase } from '../connect-database.js';
import { refuseUnknownSchema } from '../schema-migration.js';
import type { BackedUpSchema } from './archive.js';
import { closeSessions, openSessions, type SchemaSession } from './backup-session.js';
import type { CheckedArchive } from './check-archive.js';
import { loadRows, type Loaded } from './load-rows.js';
import {
  dropTables,
  emptyTables,
  listTables,
  mark,
  readState,
  refuseOthers,
  unmark,
  type TargetState,
} from './restore-target.js';

/** A schema to restore, and a URL with the role that owns it. */
export interface RestoreTarget {
  schema: BackedUpSchema;
  url: string;
}

export interface RestoreOptions {
  targets: readonly RestoreTarget[];
  say: (line: string) => void;
  /**
   * Receives the state of the database before the restore changes anything, and may throw to stop the restore. If this does not throw, the
   * restore replaces all data in the schemas.
   */
  onState: (state: TargetState, sessions: readonly SchemaSession[]) => Promise<void>;
  /** Runs once all rows are loaded, before the newer migrations. Services cannot start until the whole restore is complete. */
  onLoaded: (sessions: readonly SchemaSession[]) => Promise<void>;
}

/**
 * Restores a backup: runs the migrations that the backup had, loads its rows, then runs the newer migrations. After an interruption,
 * services do not start on the database, and the next restore starts over.
 */
export async function restore(archive: CheckedArchive, options: RestoreOptions): Promise<Loaded> {
  const { targets, say } = options;
  const accesses = targets.map(({ schema, url }) => ({ schema: schema.name, url }));
  const sessions = await openSessions(accesses, 'restore');
  try {
    await refuseOthers(sessions);
    for (const session of sessions) await refuseUnknown(targets, session);
    await options.onState(await readState(sessions), sessions);
    await mark(sessions);
    for (const session of sessions) await dropTables(session);
    say('Creating the tables');
    for (const target of targets) await migrate(target, namesOf(archive, target));
    for (const session of sessions) await emptyTables(session);
    const loaded = await loadRows(archive, sessions, say);
    await options.onLoaded(sessions);
    say('Running the migrations that are newer than the backup, and collecting planner statistics');
    for (const target of targets) await migrate(target);
    for (const session of sessions) await analyze(session);
    await unmark(sessions);
    return loaded;
  } finally {
    await closeSessions(sessions);
  }
}

/** @throws Error when another version created the target's schema, which `npm run restore -- --replace` would otherwise drop */
async function refuseUnknown(
  targets: readonly RestoreTarget[],
  { schema: name, client }: SchemaSession,
): Promise<void> {
  const migrations = targets.find(({ schema }) => schema.name === name)?.schema.migrations ?? [];
  await refuseUnknownSchema(
    name,
    migrations,
    async (sql) => (await client.query<{ name: string }>(sql)).rows,
  );
}

function namesOf({ manifest }: CheckedArchive, { schema }: RestoreTarget): readonly string[] {
  return manifest.schemas.find(({ name }) => name === schema.name)?.migrations ?? [];
}

/** @param names which migrations to run; all by default */
async function migrate({ schema, url }: RestoreTarget, names?: readonly string[]): Promise<void> {
  const migrations = schema.migrations.filter(({ name }) => names?.includes(name) ?? true);
  await migrateDatabase({
    url,
    schema: schema.name,
    applicationName: 'restore',
    entities: [],
    migrations,
    isRestoring: true,
  });
}

async function analyze(session: SchemaSession): Promise<void> {
  for (const table of await listTables(session))
    await session.client.query(`ANALYZE ${session.schema}.${table}`);
}
