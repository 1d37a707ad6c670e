import { ServiceError } from '@stream-events/contracts';
import { createEmptyDatabase, eventually, freePort, type TestDatabase } from '@stream-events/testing';
import { type DataSource, QueryFailedError } from 'typeorm';
import { connectDatabase, createDataSource } from './connect-database.js';
import {
  isConflictError,
  isContentError,
  isUnavailableError,
  sqlState,
  toUnavailable,
} from './database-error.js';

let database: TestDatabase;
let dataSource: DataSource;

beforeAll(async () => {
  database = await createEmptyDatabase(['shop']);
  dataSource = await connectDatabase({ ...options(database.urlFor('shop')), poolSize: 5 });
  await dataSource.query(
    'CREATE TABLE shop.things (id int PRIMARY KEY, value int NOT NULL CHECK (value > 0))',
  );
  await dataSource.query('INSERT INTO things VALUES (1, 1), (2, 2)');
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

function options(url: string) {
  return { url, schema: 'shop', applicationName: 'shop-test', entities: [], migrations: [], poolSize: 1 };
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
}

function classify(error: unknown) {
  return {
    sqlState: sqlState(error),
    isContent: isContentError(error),
    isConflict: isConflictError(error),
    isUnavailable: isUnavailableError(error),
  };
}

const nothing = { isContent: false, isConflict: false, isUnavailable: false };

describe('the classification of database errors', () => {
  it.each([
    ['22P02', "SELECT '{'::json"],
    ['22021', "SELECT convert_from('\\x00', 'UTF8')"],
    ['23505', 'INSERT INTO things VALUES (1, 1)'],
    ['23514', 'INSERT INTO things VALUES (3, 0)'],
    ['23502', 'INSERT INTO things VALUES (3, NULL)'],
    ['54001', "SELECT repeat('[', 100000)::json"],
  ])('classifies %s as a content error', async (state, statement) => {
    const error = await errorOf(dataSource.query(statement));

    expect(error).toBeInstanceOf(QueryFailedError);
    expect(classify(error)).toEqual({ ...nothing, sqlState: state, isContent: true });
    expect(toUnavailable(error)).toBe(error);
  });

  it.each([
    ['42P01', 'SELECT * FROM nowhere'],
    ['42601', 'SELEKT'],
  ])('classifies %s as a bug in the service', async (state, statement) => {
    expect(classify(await errorOf(dataSource.query(statement)))).toEqual({ ...nothing, sqlState: state });
  });

  it('classifies a deadlock as a conflict', async () => {
    const [one, two] = [dataSource.createQueryRunner(), dataSource.createQueryRunner()];
    await Promise.all([one.startTransaction(), two.startTransaction()]);
    await one.query('UPDATE things SET value = 5 WHERE id = 1');
    await two.query('UPDATE things SET value = 5 WHERE id = 2');

    // The session that detects the deadlock fails, and the other session gets the row.
    const crossing = [
      one.query('UPDATE things SET value = 6 WHERE id = 2').then(() => one.rollbackTransaction()),
      two.query('UPDATE things SET value = 6 WHERE id = 1').then(() => two.rollbackTransaction()),
    ].map(async (work, index) => {
      const error = await errorOf(work);
      if (sqlState(error)) await [one, two][index]?.rollbackTransaction();
      return error;
    });
    const errors = (await Promise.all(crossing)).filter((error) => sqlState(error));

    expect(errors.map(classify)).toEqual([{ ...nothing, sqlState: '40P01', isConflict: true }]);
    await Promise.all([one.release(), two.release()]);
  });

  it('classifies a serialization failure as a conflict', async () => {
    const [one, two] = [dataSource.createQueryRunner(), dataSource.createQueryRunner()];
    await one.startTransaction('REPEATABLE READ');
    await one.query('SELECT * FROM things');
    await two.query('UPDATE things SET value = 7 WHERE id = 1');

    const error = await errorOf(one.query('UPDATE things SET value = 8 WHERE id = 1'));

    expect(classify(error)).toEqual({ ...nothing, sqlState: '40001', isConflict: true });
    await one.rollbackTransaction();
    await Promise.all([one.release(), two.release()]);
  });

  it('classifies a statement that exceeded its time limit as unavailable', async () => {
    const error = await errorOf(
      dataSource.transaction(async (manager) => {
        await manager.query('SET LOCAL statement_timeout = 20');
        await manager.query('SELECT pg_sleep(30)');
      }),
    );

    expect(classify(error)).toEqual({ ...nothing, sqlState: '57014', isUnavailable: true });
  });

  it('classifies a connection that the server closed as unavailable, and the next query works', async () => {
    const other = await connectDatabase({ ...options(database.urlFor('shop')), applicationName: 'victim' });
    const sleeping = errorOf(other.query('SELECT pg_sleep(30)'));
    await eventually(async () => {
      const ended = await dataSource.query<unknown[]>(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE application_name = 'victim' AND query LIKE 'SELECT pg_sleep%' AND state = 'active'`,
      );
      expect(ended).toHaveLength(1);
    });

    const error = await sleeping;

    expect(classify(error)).toMatchObject({ ...nothing, isUnavailable: true });
    expect(await eventually(() => other.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await other.destroy();
  });

  it('replaces an idle connection that the server closed: the next query works', async () => {
    const other = await connectDatabase({
      ...options(database.urlFor('shop')),
      applicationName: 'idle-victim',
    });
    await other.query('SELECT 1');
    await dataSource.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle-victim'",
    );

    expect(await eventually(() => other.query('SELECT 1 AS one'))).toEqual([{ one: 1 }]);
    await other.destroy();
  });

  it('classifies a refused connection as unavailable', async () => {
    const url = new URL(database.urlFor('shop'));
    url.port = String(await freePort());

    const error = await errorOf(createDataSource(options(url.href)).initialize());

    expect(classify(error)).toEqual({ ...nothing, sqlState: undefined, isUnavailable: true });
    expect(toUnavailable(error)).toBeInstanceOf(ServiceError);
    expect(toUnavailable(error)).toMatchObject({ code: 'unavailable', cause: error });
  });

  it('classifies a pool without a free connection as unavailable', async () => {
    const narrow = await connectDatabase(options(database.urlFor('shop')));
    const holding = narrow.createQueryRunner();
    await holding.query('SELECT 1');

    const error = await errorOf(narrow.query('SELECT 1'));

    expect(classify(error)).toEqual({ ...nothing, sqlState: undefined, isUnavailable: true });
    await holding.release();
    await narrow.destroy();
  });
});
