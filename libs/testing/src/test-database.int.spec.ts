import { serviceSchemas } from '@stream-events/database/roles';
import pg from 'pg';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from './test-database.js';

const schemas = Object.values(serviceSchemas);

describe(createTestDatabase.name, () => {
  it('gives each caller a database in which every service finds its tables, and no other database', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);

    for (const schema of schemas) {
      const isMigrated = `SELECT count(*)::int AS count FROM ${schema}.migrations`;
      const [row] = await query(one.urlFor(schema), isMigrated);
      expect(row?.count).toBeGreaterThan(0);
    }
    await query(one.url, 'CREATE TABLE mine ()');
    expect(await query(two.url, "SELECT FROM pg_tables WHERE tablename = 'mine'")).toEqual([]);
    await Promise.all([one.drop(), two.drop()]);
  });

  it('lets only the roles of the services connect, as in production', async () => {
    const database = await createTestDatabase();

    const [{ acl } = { acl: '' }] = await query(
      database.url,
      'SELECT datacl::text AS acl FROM pg_database WHERE datname = current_database()',
    );

    expect(acl).not.toMatch(/[{,]=/);
    for (const schema of schemas) expect(acl).toContain(`${schema}=c/`);
    await database.drop();
  });

  it('drops the database while a connection is open', async () => {
    const database = await createTestDatabase();
    const client = new pg.Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();

    await database.drop();

    const again = new pg.Client({ connectionString: database.url });
    await expect(again.connect()).rejects.toMatchObject({ code: '3D000' });
    await client.end();
  });
});

describe(createEmptyDatabase.name, () => {
  it('creates a database with the schemas and without tables', async () => {
    const database = await createEmptyDatabase(['shop']);

    expect(await query(database.urlFor('shop'), "SELECT FROM pg_tables WHERE schemaname = 'shop'")).toEqual(
      [],
    );
    expect(() => database.urlFor('events')).toThrow('no role for the schema events: shop');
    await database.drop();
  });
});

async function query(url: TestDatabase['url'], sql: string): Promise<Record<string, string | number>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, string | number>>(sql)).rows;
  } finally {
    await client.end();
  }
}
