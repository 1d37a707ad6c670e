import { jest } from '@jest/globals';
import {
  createGuardedDirectory,
  eventually,
  PostgresPair,
  type GuardedDirectory,
} from '@stream-events/testing';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { connectDatabase, createPool, type DatabaseOptions } from './connect-database.js';
import { isUnavailableError } from './database-error.js';
import { resolveHostOf } from './resolve-host.js';

// The tests start two servers and copy the data of the first.
jest.setTimeout(240_000);

describe('a DATABASE_URL with several hosts', () => {
  let directory: GuardedDirectory;
  let pair: PostgresPair;

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    pair = await PostgresPair.start({ directory: directory.path });
  });
  afterAll(async () => {
    await pair.stop();
    await directory.remove();
  });

  const optionsFor = (url: string): DatabaseOptions => ({
    url,
    schema: 'shop',
    applicationName: 'shop-test',
    entities: [],
    migrations: [],
    poolSize: 2,
    statementTimeoutMs: 10_000,
  });
  const readPort = async (dataSource: DataSource): Promise<number> => {
    const [row] = await dataSource.query<{ port: number }[]>('SELECT inet_server_port() AS port');
    return row?.port ?? 0;
  };

  it('connects to the primary, whatever the order of the hosts', async () => {
    const url = pair.urlOf('stream_events');
    const reversed = url.replace(/@([^,]+),([^/]+)/, '@$2,$1');

    for (const each of [url, reversed]) {
      const dataSource = await connectDatabase(optionsFor(each));
      expect(await readPort(dataSource)).toBe(pair.primary.port);
      await dataSource.destroy();
    }
  });

  it('resolves the name of a host once, before it connects', async () => {
    const url = pair.primary.url.replace('127.0.0.1', 'no.such.name.invalid');
    const client = new pg.Client({ connectionString: url });
    const addresses = [{ address: '127.0.0.1', family: 4 }];

    await resolveHostOf(client, { resolve: () => Promise.resolve(addresses) });
    await client.connect();

    expect((await client.query('SELECT inet_server_port() AS port')).rows).toEqual([
      { port: pair.primary.port },
    ]);
    await client.end();
  });

  it('connects to hosts by name', async () => {
    const url = pair.urlOf('stream_events').replaceAll('127.0.0.1', 'localhost');

    const dataSource = await connectDatabase(optionsFor(url));

    expect(await readPort(dataSource)).toBe(pair.primary.port);
    await dataSource.destroy();
  });

  it('refuses a standby as the only host', async () => {
    const pool = createPool(optionsFor(pair.standby.url));

    const failure: unknown = await pool.query('SELECT 1').catch((error: unknown) => error);

    expect(String(failure)).toMatch(/no connection to a primary: 127\.0\.0\.1:\d+ is a standby or read-only/);
    expect(isUnavailableError(failure)).toBe(true);
    await pool.end();
  });

  it('drops the connection when the server becomes read-only', async () => {
    const pool = createPool({ ...optionsFor(pair.urlOf('stream_events')), poolSize: 1 });
    const readPid = async (): Promise<number> =>
      (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
    const pid = await readPid();
    await pool.query('SET default_transaction_read_only = on');

    const failure: unknown = await pool.query('CREATE TABLE never (id int)').catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: '25006' });
    expect(isUnavailableError(failure)).toBe(true);
    expect(await eventually(readPid)).not.toBe(pid);
    await pool.query('CREATE TABLE once (id int)');
    await pool.end();
  });

  it('moves to the promoted standby and keeps every commit', async () => {
    const dataSource = await connectDatabase(optionsFor(pair.urlOf('stream_events')));
    const pool = createPool(optionsFor(pair.urlOf('stream_events')));
    await dataSource.query('CREATE TABLE things (id int)');
    await pool.query('INSERT INTO shop.things VALUES (1)');

    await pair.killPrimary();
    await pair.promote();

    await eventually(() => pool.query('INSERT INTO shop.things VALUES (2)'), { timeoutMs: 60_000 });
    expect(await eventually(() => readPort(dataSource), { timeoutMs: 60_000 })).toBe(pair.primary.port);
    expect(await dataSource.query('SELECT id FROM shop.things ORDER BY id')).toEqual([{ id: 1 }, { id: 2 }]);
    await pool.end();
    await dataSource.destroy();
  });
});
