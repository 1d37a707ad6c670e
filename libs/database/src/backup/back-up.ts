import { to as copyTo } from 'pg-copy-streams';
import {
  archiveFormat,
  ArchiveError,
  contentsName,
  folderOf,
  manifestName,
  type Contents,
  type Manifest,
  type TableContents,
} from './archive.js';
import { ArchiveWriter } from './archive-writer.js';
import { closeSessions, type SchemaAccess, type SchemaSession } from './backup-session.js';
import { Progress } from './progress.js';
import { openSnapshot, type Snapshot } from './snapshot.js';
import { readSequences } from './table-catalog.js';

export interface BackupOptions {
  accesses: readonly SchemaAccess[];
  platform: string;
  /** The version of the service. */
  version: string;
  say: (line: string) => void;
}

/**
 * Copies all schemas into one archive while the services run. All rows are from the same moment. Works through the PostgreSQL protocol,
 * without pg_dump. If the backup fails, leaves no file.
 */
export async function backUp(path: string, options: BackupOptions): Promise<Contents> {
  const writer = await ArchiveWriter.create(path);
  try {
    const snapshot = await openSnapshot(options.accesses);
    try {
      const contents = await write(writer, snapshot, options);
      await writer.complete();
      return contents;
    } finally {
      await closeSessions(snapshot.sessions);
    }
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

async function write(
  writer: ArchiveWriter,
  { sessions, schemas, createdAt }: Snapshot,
  { platform, version, say }: BackupOptions,
): Promise<Contents> {
  const empty = schemas.filter(({ migrations }) => migrations.length === 0);
  if (empty.length > 0)
    throw new ArchiveError(
      `The schema ${empty.map(({ name }) => name).join(', ')} is empty: its service was never started. Start all services once, then try again.`,
    );
  await refuseOtherPlatform(sessions, platform);
  const manifest: Manifest = { format: archiveFormat, version, createdAt, platform, schemas };
  await writer.addFile(manifestName, toJson(manifest));
  const contents: Contents = { tables: [], sequences: [] };
  const progress = new Progress(say, 'Copied');
  for (const [index, { name, tables }] of schemas.entries()) {
    const session = sessions[index];
    if (!session) throw new Error(`there is no session for the schema ${name}`);
    for (const table of tables) contents.tables.push(await copyTable(writer, { session, table, progress }));
    contents.sequences.push(...(await readSequences(session)));
  }
  await writer.addFile(contentsName, toJson(contents));
  return contents;
}

interface Copy {
  session: SchemaSession;
  table: Manifest['schemas'][number]['tables'][number];
  progress: Progress;
}

async function copyTable(
  writer: ArchiveWriter,
  { session: { client, schema }, table, progress }: Copy,
): Promise<TableContents> {
  const name = `${schema}.${table.name}`;
  const rows = client.query(copyTo(`COPY ${name} (${table.columns.join(', ')}) TO STDOUT`));
  const chunks: AsyncIterable<Buffer> = rows;
  const written = await writer.addRows(folderOf(schema, table.name), progress.count(name, chunks));
  return { schema, table: table.name, rows: rows.rowCount, ...written };
}

/** Every service that stores a platform's data records the platform; see `StoreIdentity`. */
async function refuseOtherPlatform(sessions: readonly SchemaSession[], platform: string): Promise<void> {
  for (const { schema, client } of sessions) {
    const table = await client.query<{ name: string | null }>('SELECT to_regclass($1)::text AS name', [
      `${schema}.store_identity`,
    ]);
    if (table.rows[0]?.name == null) continue;
    const { rows } = await client.query<{ platform: string }>('SELECT platform FROM store_identity');
    const [identity] = rows;
    if (identity && identity.platform !== platform)
      throw new ArchiveError(
        `The database holds the data of platform ${identity.platform}, but PLATFORM is ${platform}. Set PLATFORM=${identity.platform}.`,
      );
  }
}

function toJson(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value, undefined, 2)}\n`);
}
