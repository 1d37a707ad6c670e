import pg from 'pg';
import { createTestDatabase } from './test-database.js';

describe(createTestDatabase.name, () => {
  it('creates a separate empty database for each caller', async () => {
    const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    const client = new pg.Client({ connectionString: one.url });
    await client.connect();
    const tables = await client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'");
    await client.end();

    expect(one.url).not.toBe(two.url);
    expect(tables.rowCount).toBe(0);
    await Promise.all([one.drop(), two.drop()]);
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
