import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { readArchive } from './archive-reader.js';
import { ArchiveError, folderOf, type ArchivedTable, type SequenceState } from './archive.js';
import type { SchemaSession } from './backup-session.js';
import type { CheckedArchive } from './check-archive.js';
import { Progress } from './progress.js';
import { listTables } from './restore-target.js';

/** The result of loading an archive. */
export interface Loaded {
  rows: number;
  /** Tables from the archive that no migration creates, such as an operator's own table, or a partition that retention was removing. */
  skipped: string[];
}

interface TableTarget {
  session: SchemaSession;
  table: ArchivedTable;
  rows: number;
}

/** Loads the tables in the order of the archive, except for those that no migration creates. Then sets the sequences. */
export async function loadRows(
  { path, manifest, contents }: CheckedArchive,
  sessions: readonly SchemaSession[],
  say: (line: string) => void,
): Promise<Loaded> {
  const targets = new Map<string, TableTarget>();
  const skipped: string[] = [];
  for (const session of sessions) {
    const known = await listTables(session);
    for (const table of manifest.schemas.find(({ name }) => name === session.schema)?.tables ?? []) {
      const sum = contents.tables.find(
        (candidate) => candidate.schema === session.schema && candidate.table === table.name,
      );
      if (known.includes(table.partition?.of ?? table.name))
        targets.set(folderOf(session.schema, table.name), { session, table, rows: sum?.rows ?? 0 });
      else skipped.push(`${session.schema}.${table.name}`);
    }
  }
  const bytes = contents.tables.reduce((sum, table) => sum + table.bytes, 0);
  const progress = new Progress(say, 'Loaded', bytes);
  let rows = 0;
  for await (const { name, content } of readArchive(path)) {
    const target = targets.get(name);
    if (!target) continue;
    await load(target, progress.count(name, content));
    rows += target.rows;
  }
  await setSequences(contents.sequences, sessions);
  return { rows, skipped };
}

async function load({ session, table, rows }: TableTarget, chunks: AsyncIterable<Buffer>): Promise<void> {
  const { schema, client } = session;
  const name = `${schema}.${table.name}`;
  await client.query('BEGIN');
  try {
    const { partition } = table;
    // Load a partition first and build its indexes later, which is faster. FREEZE saves VACUUM from rewriting the rows later.
    if (partition)
      await client.query(
        `CREATE TABLE ${name} (LIKE ${schema}.${partition.of} INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`,
      );
    const options = partition ? 'WITH (FREEZE)' : '';
    const rowStream = client.query(
      copyFrom(`COPY ${name} (${table.columns.join(', ')}) FROM STDIN ${options}`),
    );
    await pipeline(chunks, rowStream);
    if (rowStream.rowCount !== rows)
      throw new ArchiveError(`The archive has ${rowStream.rowCount} rows of ${name} instead of ${rows}.`);
    // Attaching makes PostgreSQL build the partition's indexes.
    if (partition)
      await client.query(
        `ALTER TABLE ${schema}.${partition.of} ATTACH PARTITION ${name} FOR VALUES FROM ('${partition.from}') TO ('${partition.to}')`,
      );
    await client.query('COMMIT');
  } catch (cause) {
    // Ignore the error: if the connection is lost, the server rolls back by itself.
    await client.query('ROLLBACK').catch(() => undefined);
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot load the table ${name}: ${reason}`, { cause });
  }
}

async function setSequences(
  states: readonly SequenceState[],
  sessions: readonly SchemaSession[],
): Promise<void> {
  for (const { schema, table, column, lastValue, isCalled } of states) {
    const session = sessions.find((candidate) => candidate.schema === schema);
    await session?.client.query('SELECT setval(pg_get_serial_sequence($1, $2), $3::bigint, $4)', [
      `${schema}.${table}`,
      column,
      lastValue,
      isCalled,
    ]);
  }
}
