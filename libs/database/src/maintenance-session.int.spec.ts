import { createEmptyDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource } from 'typeorm';
import { connectDatabase } from './connect-database.js';
import { MaintenanceSessions, type MaintenanceSession } from './maintenance-session.js';

let database: TestDatabase;
let dataSource: DataSource;
let sessions: MaintenanceSessions;
beforeAll(async () => {
  database = await createEmptyDatabase(['shop']);
  const options = { url: database.urlFor('shop'), schema: 'shop', applicationName: 'shop-test' };
  dataSource = await connectDatabase({ ...options, poolSize: 2, entities: [], migrations: [] });
  sessions = new MaintenanceSessions({ ...options, applicationName: 'shop-maintenance' });
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

async function open(stopping = new AbortController().signal): Promise<MaintenanceSession> {
  const session = await eventually(async () => {
    const opened = await sessions.open('partitionMaintenance', stopping);
    if (!opened) throw new Error('another session holds the lock');
    return opened;
  });
  return session;
}

describe(MaintenanceSessions.name, () => {
  it('opens one session at a time, and another one when it is closed', async () => {
    const { signal } = new AbortController();
    const first = await open();

    expect(await sessions.open('partitionMaintenance', signal)).toBeUndefined();
    await first.close();

    await (await open()).close();
  });

  it('opens a session in the schema of the service, whose statements may take hours', async () => {
    const session = await open();

    expect(
      await session.query(
        `SELECT current_schemas(false)::text AS schemas, current_setting('statement_timeout') AS statement`,
      ),
    ).toEqual([{ schemas: '{shop}', statement: '6h' }]);
    await session.close();
  });

  it('ends a running statement on the server, and releases the lock, when the service stops', async () => {
    const stopping = new AbortController();
    const session = await open(stopping.signal);
    const statement = session.query('SELECT pg_sleep(3600)').catch((error: unknown) => error);
    await eventually(async () => {
      expect(await running()).toEqual(['SELECT pg_sleep(3600)']);
    });

    stopping.abort();

    expect(await statement).toBeInstanceOf(Object);
    await session.close();
    await eventually(async () => {
      expect(await running()).toEqual([]);
    });
    await (await open()).close();
  });

  it('fails the next statement of a session whose connection is lost', async () => {
    const session = await open();
    await dataSource.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shop-maintenance'`,
    );

    await expect(session.query('SELECT 1')).rejects.toThrow(/terminat|connection/i);
    await session.close();
  });
});

/** Returns the running statements of maintenance sessions. */
async function running(): Promise<string[]> {
  const rows = await dataSource.query<{ query: string }[]>(
    `SELECT query FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'shop-maintenance' AND state = 'active'`,
  );
  return rows.map(({ query }) => query);
}
