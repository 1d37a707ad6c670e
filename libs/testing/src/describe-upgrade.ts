import { readFileSync } from 'node:fs';
import { connectDatabase, type Migration } from '@stream-events/database';
import type { DataSource } from 'typeorm';
import { findBreaks, type Constraint, type SchemaSnapshot } from './schema-breaks.js';
import { createEmptyDatabase } from './test-database.js';

interface ServiceSchema {
  name: string;
  entities: Parameters<typeof connectDatabase>[0]['entities'];
  migrations: readonly Migration[];
}

const kinds: Record<string, Constraint['kind']> = {
  p: 'primary key',
  u: 'unique',
  c: 'check',
  f: 'foreign key',
};

/**
 * Declares a test that fails when this version's migrations break the previous release. During an upgrade, both versions run side by side.
 * Add columns in one version and drop the old ones in a later version ("expand, then contract"). Before 1.0.0, no release is listed, and
 * the test is skipped.
 *
 * @param exceptions the accepted breaks, each with the reason why the previous release still works
 */
export function describeUpgrade(
  schema: ServiceSchema,
  exceptions: Readonly<Record<string, string>> = {},
): void {
  const released = releasedMigrations(schema.name);
  describe(`migrations of the schema ${schema.name}`, () => {
    if (!released) {
      it.skip('break no statement of the previous release: version 1.0.0 will be the first one to compare with', () =>
        undefined);
      return;
    }
    it('break no statement of the previous release, except for the listed reasons', async () => {
      const database = await createEmptyDatabase();
      try {
        const url = database.urlFor(schema.name);
        const migrations = schema.migrations.filter(({ name }) => released.includes(name));
        expect(migrations.map(({ name }) => name).sort()).toEqual([...released].sort());
        const previous = await migrate(url, { ...schema, migrations });
        const current = await migrate(url, schema);

        expect(findBreaks(previous, current).sort()).toEqual(Object.keys(exceptions).sort());
      } finally {
        await database.drop();
      }
    });
  });
}

/** The class names of the previous release's migrations, in order. Undefined before the first release. */
function releasedMigrations(name: string): readonly string[] | undefined {
  const text = readFileSync(new URL('../released.json', import.meta.url), 'utf8');
  const { migrations } = JSON.parse(text) as { migrations: Record<string, string[]> }; // Safe cast: `npm run release` writes the file.
  return migrations[name];
}

async function migrate(url: string, { name, entities, migrations }: ServiceSchema): Promise<SchemaSnapshot> {
  const options = { url, schema: name, applicationName: 'upgrade test', poolSize: 1 };
  const dataSource = await connectDatabase({ ...options, entities, migrations });
  try {
    return await readSnapshot(dataSource, name);
  } finally {
    await dataSource.destroy();
  }
}

/** Reads the columns and constraints that a service's SQL depends on. Skips partitions, which have the same columns as their table. */
export async function readSnapshot(dataSource: DataSource, schema: string): Promise<SchemaSnapshot> {
  const columns = await dataSource.query<SchemaSnapshot['columns']>(
    `SELECT table_name AS table, column_name AS column, udt_name AS type, relkind = 'v' AS "isView",
            is_nullable = 'YES' AS "isNullable", column_default IS NOT NULL OR is_identity = 'YES' AS "hasDefault"
     FROM information_schema.columns
     JOIN pg_class ON pg_class.oid = format('%I.%I', table_schema, table_name)::regclass
     WHERE table_schema = $1 AND NOT relispartition AND table_name <> 'migrations'`,
    [schema],
  );
  const constraints = await dataSource.query<(Omit<Constraint, 'kind'> & { type: string })[]>(
    `SELECT relname AS table, conname AS name, contype AS type, pg_get_constraintdef(pg_constraint.oid) AS definition
     FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
     WHERE connamespace = $1::regnamespace AND contype = ANY ('{p,u,c,f}') AND NOT relispartition
       AND relname <> 'migrations'
     UNION ALL
     SELECT relname, indexrelid::regclass::text, 'u', substring(pg_get_indexdef(indexrelid) FROM ' USING .*')
     FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
     WHERE relnamespace = $1::regnamespace AND indisunique AND NOT relispartition AND relname <> 'migrations'
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    [schema],
  );
  return {
    columns,
    constraints: constraints.map(({ type, ...rest }) => ({ ...rest, kind: kinds[type] ?? 'check' })),
  };
}
