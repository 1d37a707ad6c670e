import type { DataSource } from 'typeorm';
import { createEmptyDatabase, type TestDatabase } from './test-database.js';

const udtNames: Record<string, string> = {
  bigint: 'int8',
  boolean: 'bool',
  'double precision': 'float8',
  integer: 'int4',
};

/**
 * Declares the tests that compare a service's migrations with its entities.
 *
 * @param name the name of the schema
 * @param connect connects to an empty database and runs the migrations
 */
export function describeSchema(name: string, connect: (database: TestDatabase) => Promise<DataSource>): void {
  describe(`schema ${name}`, () => {
    let database: TestDatabase;
    let dataSource: DataSource;

    beforeAll(async () => {
      database = await createEmptyDatabase();
      dataSource = await connect(database);
    });

    afterAll(async () => {
      await dataSource.destroy();
      await database.drop();
    });

    it('has the tables of the entities and no others', async () => {
      const rows = await dataSource.query<{ name: string }[]>(
        `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = $1 AND table_name <> 'migrations'`,
        [name],
      );

      expect(rows.map(({ name }) => name).sort()).toEqual(
        dataSource.entityMetadatas.map(({ tableName }) => tableName).sort(),
      );
    });

    it('has the columns, types, nullability and primary keys of the entities', async () => {
      const columns = await dataSource.query<Record<string, unknown>[]>(
        `SELECT table_name AS "table", column_name AS "column", udt_name AS type, is_nullable = 'YES' AS "isNullable",
                column_default IS NOT NULL AS "hasDefault",
                EXISTS (SELECT FROM information_schema.key_column_usage JOIN information_schema.table_constraints
                        USING (constraint_schema, constraint_name, table_name)
                        WHERE constraint_type = 'PRIMARY KEY' AND constraint_schema = columns.table_schema
                        AND table_name = columns.table_name AND column_name = columns.column_name) AS "isPrimary"
         FROM information_schema.columns WHERE table_schema = $1 AND table_name <> 'migrations'`,
        [name],
      );
      const toUdt = (type: unknown, isArray: boolean): string =>
        (isArray ? '_' : '') + (udtNames[String(type)] ?? String(type));
      const declared = dataSource.entityMetadatas.flatMap(({ tableName, columns: ofEntity }) =>
        ofEntity.map((column) => ({
          table: tableName,
          column: column.databaseName,
          type: toUdt(column.type, column.isArray),
          isNullable: column.isNullable,
          hasDefault: column.default !== undefined || column.generationStrategy === 'uuid',
          isPrimary: column.isPrimary,
        })),
      );
      const sort = (rows: unknown[]): string[] =>
        rows.map((row) => JSON.stringify(row, Object.keys(declared[0] ?? {}))).sort();

      expect(sort(columns)).toEqual(sort(declared));
    });

    it('has no difference that TypeORM would migrate', async () => {
      const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
      // Ignore constraints and indexes: TypeORM expects other names for them.
      const others = upQueries.filter(({ query }) => !/CONSTRAINT|UNIQUE|INDEX/.test(query));

      expect(others).toEqual([]);
    });

    it('has no pending migrations', async () => {
      expect(await dataSource.showMigrations()).toBe(false);
    });
  });
}
