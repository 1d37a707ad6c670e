import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { startPgBouncer, whyNoPgBouncer, type PgBouncer } from '../test/pgbouncer.js';
import { connectClient, connectDatabase, createPool, type DatabaseOptions } from './connect-database.js';
import { refuseTransactionPooler } from './refuse-transaction-pooler.js';

class CreateThings1700000000001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE things (id int PRIMARY KEY)');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

const optionsFor = (url: string): DatabaseOptions => ({
  ...{ url, schema: 'shop', applicationName: 'shop', poolSize: 3 },
  ...{ entities: [], migrations: [CreateThings1700000000001] },
});

describe(refuseTransactionPooler.name, () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createEmptyDatabase();
  });
  afterAll(() => database.drop());

  it('accepts PostgreSQL itself', async () => {
    await refuseTransactionPooler(optionsFor(database.url));
  });

  const missing = whyNoPgBouncer();
  const describeWithPooler = missing === undefined ? describe : describe.skip;

  describeWithPooler(`behind PgBouncer${missing === undefined ? '' : ` (skipped: ${missing})`}`, () => {
    let pooler: PgBouncer | undefined;
    afterEach(() => pooler?.stop());

    it.each([
      ['transaction', {}],
      ['transaction', { server_round_robin: '1', min_pool_size: '5' }],
      ['statement', {}],
    ] as const)(
      'refuses to start with pool_mode = %s %j, and says what to change',
      async (mode, settings) => {
        pooler = await startPgBouncer(database.url, mode, settings);

        await expect(connectDatabase(optionsFor(pooler.url))).rejects.toThrow(
          /^cannot use PostgreSQL as shop: .*pooler that shares sessions.*Set pool_mode = session/,
        );
      },
    );

    it('works with pool_mode = session: migrations, search paths, time limits, named statements, and locks', async () => {
      pooler = await startPgBouncer(database.url, 'session');
      const options = optionsFor(pooler.url);

      const dataSource = await connectDatabase(options);
      expect(await dataSource.query('SELECT count(*)::int AS count FROM things')).toEqual([{ count: 0 }]);
      const [settings] = await dataSource.query<object[]>(
        "SELECT current_schema() AS schema, current_setting('statement_timeout') AS timeout, current_setting('TimeZone') AS zone",
      );
      expect(settings).toEqual({ schema: 'shop', timeout: '10s', zone: 'UTC' });

      const pool = createPool({ ...options, settings: { plan_cache_mode: 'force_generic_plan' } });
      const statement = { name: 'add', text: 'SELECT $1::int + 1 AS sum', values: [1] };
      for (const _ of [1, 2]) expect((await pool.query(statement)).rows).toEqual([{ sum: 2 }]);
      expect((await pool.query('SHOW plan_cache_mode')).rows).toEqual([
        { plan_cache_mode: 'force_generic_plan' },
      ]);

      const [first, second] = [await connectClient(options), await connectClient(options)];
      const lock = 'SELECT pg_try_advisory_lock(4711) AS "isTaken"';
      expect((await first.query(lock)).rows).toEqual([{ isTaken: true }]);
      expect((await second.query(lock)).rows).toEqual([{ isTaken: false }]);
      await Promise.all([first.end(), second.end(), pool.end(), dataSource.destroy()]);
    });
  });
});
