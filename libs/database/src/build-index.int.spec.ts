import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type { DataSource, QueryRunner } from 'typeorm';
import { buildIndex, dropIndex } from './build-index.js';
import { connectDatabase } from './connect-database.js';

let database: TestDatabase;
let dataSource: DataSource;
let runner: QueryRunner;
beforeEach(async () => {
  database = await createEmptyDatabase();
  const name = 'build-index-test';
  dataSource = await connectDatabase({ url: database.url, schema: 'shop', applicationName: name, entities: [], migrations: [], poolSize: 2 }); // prettier-ignore
  await dataSource.query('CREATE TABLE things AS SELECT 1 AS id, 7 AS size UNION ALL SELECT 2, 7');
  runner = dataSource.createQueryRunner();
  await runner.query("SET lock_timeout = '3s'");
});
afterEach(async () => {
  await runner.release();
  await dataSource.destroy();
  await database.drop();
});

/** Whether the index is valid; undefined when it does not exist. */
async function readValidity(): Promise<boolean | undefined> {
  const [row] = await dataSource.query<{ valid: boolean }[]>(
    `SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass('things_index')`,
  );
  return row?.valid;
}

describe(buildIndex, () => {
  it('builds an index, replaces the index of an interrupted build, and keeps the lock timeout', async () => {
    await expect(runner.query('CREATE UNIQUE INDEX CONCURRENTLY things_index ON things (size)')).rejects.toThrow('could not create unique index'); // prettier-ignore
    expect(await readValidity()).toBe(false);

    await buildIndex(runner, 'things_index', 'things (size)');

    expect(await readValidity()).toBe(true);
    expect(await runner.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '3s' }]);
  });

  it('keeps an index that an earlier attempt has built', async () => {
    const readOid = (): Promise<unknown> => dataSource.query("SELECT 'things_index'::regclass::oid AS oid");
    await buildIndex(runner, 'things_index', 'things (size)');
    const built = await readOid();

    await buildIndex(runner, 'things_index', 'things (size)');

    expect(await readOid()).toEqual(built);
  });

  it('leaves no index when the build fails', async () => {
    await expect(buildIndex(runner, 'things_index', 'things ((1 / (id - 2)))')).rejects.toThrow(
      'division by zero',
    );

    expect(await readValidity()).toBeUndefined();
    expect(await runner.query('SHOW lock_timeout')).toEqual([{ lock_timeout: '3s' }]);
  });
});

describe(dropIndex, () => {
  it('drops an index, and does nothing when it does not exist', async () => {
    await buildIndex(runner, 'things_index', 'things (size)');

    await dropIndex(runner, 'things_index');
    await dropIndex(runner, 'things_index');

    expect(await readValidity()).toBeUndefined();
  });
});
