import { migrateDatabase } from '../connect-database.js';
import type { BackedUpSchema, Migration } from './archive.js';
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

/** A schema to restore, and the URL of the schema's owner. */
export interface RestoreTarget {
  schema: BackedUpSchema;
  url: string;
}

export interface RestoreOptions {
  targets: readonly RestoreTarget[];
  say: (line: string) => void;
  /**
   * Called with the state of the database before the restore changes anything. This callback can throw an error to stop the restore. The
   * rows of an interrupted restore are always replaced.
   */
  onState: (state: TargetState, sessions: readonly SchemaSession[]) => Promise<void>;
  /** Called when all rows are loaded. Services cannot start before this callback ends. */
  onLoaded: (sessions: readonly SchemaSession[]) => Promise<void>;
}

/**
 * Restores a backup: runs the migrations that had run at the time of the backup, loads the rows, and runs the newer migrations. After an
 * interrupted restore, no service starts on the database, and the next restore starts from the beginning.
 */
export async function restore(archive: CheckedArchive, options: RestoreOptions): Promise<Loaded> {
  const { targets, say } = options;
  const accesses = targets.map(({ schema, url }) => ({ schema: schema.name, url }));
  const sessions = await openSessions(accesses, 'restore');
  try {
    await refuseOthers(sessions);
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

function namesOf({ manifest }: CheckedArchive, { schema }: RestoreTarget): readonly string[] {
  return manifest.schemas.find(({ name }) => name === schema.name)?.migrations ?? [];
}

/** @param names the migrations to run; by default all */
async function migrate({ schema, url }: RestoreTarget, names?: readonly string[]): Promise<void> {
  const migrations: Migration[] = schema.migrations.filter(({ name }) => names?.includes(name) ?? true);
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
