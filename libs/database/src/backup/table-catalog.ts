import { migrationsTable, readMigrations } from '../schema-migration.js';
import type { ArchivedSchema, ArchivedTable, SequenceState } from './archive.js';
import type { SchemaSession } from './backup-session.js';

interface CatalogRow {
  name: string;
  columns: string[];
  parent: string | null;
  from: string | null;
  to: string | null;
}

/**
 * Reads a schema's migrations and tables. Leaves out the table of migrations, which a restore fills by running them, and partitions that
 * retention is removing, because their rows are no longer visible.
 */
export async function readSchema({ schema, client }: SchemaSession): Promise<ArchivedSchema> {
  const tables = await client.query<CatalogRow>(
    `SELECT leaf.relname AS name, parent.relname AS parent, range[1] AS "from", range[2] AS "to",
       (SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
        WHERE attrelid = leaf.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
     FROM pg_class AS leaf
     LEFT JOIN pg_inherits ON inhrelid = leaf.oid
     LEFT JOIN pg_class AS parent ON parent.oid = inhparent
     LEFT JOIN LATERAL regexp_match(pg_get_expr(leaf.relpartbound, leaf.oid), $$FROM \\('([0-9a-f-]+)'\\) TO \\('([0-9a-f-]+)'\\)$$) AS range ON true
     WHERE leaf.relnamespace = to_regnamespace($1) AND leaf.relkind = 'r' AND leaf.relname <> '${migrationsTable}'
       -- Leave out tables with other names: only an operator creates such tables.
       AND leaf.relname ~ '^[a-z_][a-z0-9_]*$'
       AND inhdetachpending IS NOT TRUE
     ORDER BY leaf.relname COLLATE "C"`,
    [schema],
  );
  return {
    name: schema,
    migrations: await readMigrations(schema, async (sql) => (await client.query<{ name: string }>(sql)).rows),
    tables: order(tables.rows.map(toTable), await readReferences({ schema, client })),
  };
}

function toTable({ name, columns, parent, from, to }: CatalogRow): ArchivedTable {
  const partition = parent !== null && from !== null && to !== null ? { of: parent, from, to } : null;
  return { name, columns, partition };
}

interface Reference {
  from: string;
  to: string;
}

async function readReferences({ schema, client }: SchemaSession): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `SELECT source.relname AS "from", target.relname AS "to" FROM pg_constraint
     JOIN pg_class AS source ON source.oid = conrelid JOIN pg_class AS target ON target.oid = confrelid
     WHERE contype = 'f' AND connamespace = to_regnamespace($1) AND conrelid <> confrelid`,
    [schema],
  );
  return rows;
}

/**
 * Sorts tables so that each one comes after the tables that it references, unless they reference each other. Otherwise keeps the order.
 */
export function order(tables: readonly ArchivedTable[], references: readonly Reference[]): ArchivedTable[] {
  const ordered: ArchivedTable[] = [];
  const visit = (table: ArchivedTable, path: readonly string[]): void => {
    if (ordered.includes(table) || path.includes(table.name)) return;
    const targets = references.filter(({ from }) => from === table.name).map(({ to }) => to);
    for (const target of tables) if (targets.includes(target.name)) visit(target, [...path, table.name]);
    ordered.push(table);
  };
  for (const table of tables) visit(table, []);
  return ordered;
}

/**
 * Reads the sequences of identity columns. Call this after the snapshot was taken: sequences are not part of a snapshot, and a value read
 * earlier could be behind the rows.
 */
export async function readSequences({ schema, client }: SchemaSession): Promise<SequenceState[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `SELECT relname AS table, attname AS column, pg_get_serial_sequence(format('%I.%I', $1::text, relname), attname) AS sequence
     FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p') AND NOT relispartition AND attidentity <> ''
     ORDER BY relname, attname`,
    [schema],
  );
  const states: SequenceState[] = [];
  for (const { table, column, sequence } of rows) {
    const state = await client.query<{ lastValue: string; isCalled: boolean }>(
      `SELECT last_value AS "lastValue", is_called AS "isCalled" FROM ${sequence}`,
    );
    const [row] = state.rows;
    if (row) states.push({ schema, table, column, ...row });
  }
  return states;
}
