import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { SecretBox } from '@stream-events/service';
import { createEmptyDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { connectDatabase, migrateDatabase } from '../connect-database.js';
import type { Migration } from '../schema-migration.js';
import type { BackedUpSchema } from './archive.js';
import { backUp } from './back-up.js';
import { checkArchive } from './check-archive.js';
import { restoreMark } from './restore-mark.js';
import { restore, type RestoreOptions } from './restore.js';

const first = '00000000-0000-0000-0000-000000000000';
const middle = '80000000-0000-0000-0000-000000000000';
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const id = (digit: string): string => digit.repeat(8) + first.slice(8);

class CreateShop1700000000001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`CREATE TABLE things (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
      CREATE TABLE a_parts (thing bigint REFERENCES things (number), secret text, id text);
      CREATE TABLE sales (id uuid PRIMARY KEY, data json) PARTITION BY RANGE (id);
      CREATE INDEX sales_data_index ON sales ((data ->> 'kind'));
      CREATE TABLE settings (one boolean PRIMARY KEY DEFAULT true, value text);
      INSERT INTO settings (value) VALUES ('new')`);
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

class AddPrice1700000000002 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(
      'ALTER TABLE things ADD COLUMN price int; UPDATE things SET price = length(name)',
    );
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

// A test creates two databases, and some tests restore several times.
jest.setTimeout(180_000);

const key = 'the secret key of the backup';
const old: readonly Migration[] = [CreateShop1700000000001];
const current: readonly Migration[] = [...old, AddPrice1700000000002];
const say = (): void => undefined;

/** Contains characters that COPY escapes, quotes, and characters beyond ASCII. */
const text = 'tab\t newline\n return\r backslash\\ \\N quote\' "ü 🦊';

describe(restore.name, () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let directory: string;
  let path: string;
  let client: pg.Client;

  const schemaWith = (migrations: readonly Migration[]): BackedUpSchema => ({
    name: 'shop',
    migrations,
    encryptedColumns: [{ table: 'a_parts', column: 'secret', boundTo: 'id' }],
  });
  const migrate = (database: TestDatabase, migrations: readonly Migration[]): Promise<void> =>
    migrateDatabase({
      ...{ url: database.urlFor('shop'), schema: 'shop', applicationName: 'test', entities: [] },
      ...{ migrations: [...migrations], poolSize: 1 },
    });
  const connect = async (database: TestDatabase): Promise<pg.Client> => {
    await client.end();
    client = new pg.Client({ connectionString: database.urlFor('shop'), options: '-c search_path=shop' });
    await client.connect();
    return client;
  };
  const rows = async (sql: string): Promise<unknown[]> =>
    (await client.query({ text: sql, rowMode: 'array' })).rows;
  const save = (database = source, file = path): Promise<unknown> =>
    backUp(file, {
      accesses: [{ schema: 'shop', url: database.urlFor('shop') }],
      ...{ platform: 'test', version: '1.0.0', say },
    });
  const check = (migrations = current, secretKeys = [key]) =>
    checkArchive(path, {
      schemas: [schemaWith(migrations)],
      platform: 'test',
      readSecretKeys: () => Promise.resolve(secretKeys),
      say,
    });
  const load = async (migrations = current, options: Partial<RestoreOptions> = {}) => {
    const nothing = (): Promise<void> => Promise.resolve();
    const targets = [{ schema: schemaWith(migrations), url: target.urlFor('shop') }];
    return restore(await check(migrations), {
      targets,
      say,
      onState: nothing,
      onLoaded: nothing,
      ...options,
    });
  };

  /** Waits until the server has ended the sessions of closed services. */
  const untilUnused = (): Promise<void> =>
    eventually(async () => {
      const name = new URL(target.url).pathname.slice(1);
      const sessions = await rows(`SELECT application_name FROM pg_stat_activity WHERE datname = '${name}'`);
      expect(sessions).toEqual([]);
    });

  beforeEach(async () => {
    [source, target] = [await createEmptyDatabase(['shop']), await createEmptyDatabase(['shop'])];
    directory = await mkdtemp(join(tmpdir(), 'restore-'));
    path = join(directory, 'backup.tar.gz');
    client = new pg.Client(source.url);
    await client.connect();
    await migrate(source, old);
    await connect(source);
    await client.query('INSERT INTO things (name) SELECT $1 FROM generate_series(1, 5)', [text]);
    await client.query('DELETE FROM things WHERE number = 5');
    const secret = new SecretBox([key]).encrypt('a secret', 'part');
    await client.query(`INSERT INTO a_parts VALUES (1, $1, 'part'), (2, NULL, NULL)`, [secret]);
    await client.query(
      `CREATE TABLE sales_1 PARTITION OF sales FOR VALUES FROM ('${first}') TO ('${middle}')`,
    );
    await client.query(
      `CREATE TABLE sales_2 PARTITION OF sales FOR VALUES FROM ('${middle}') TO ('${last}')`,
    );
    await client.query('INSERT INTO sales VALUES ($1, $2)', [id('1'), JSON.stringify({ kind: text })]);
    await client.query(`UPDATE settings SET value = 'changed'`);
  });
  afterEach(async () => {
    await client.end();
    await Promise.all([source.drop(), target.drop(), rm(directory, { recursive: true })]);
  });

  it('loads every value, also into tables that refer to others, and continues the sequences', async () => {
    await save();
    const { rows: count, skipped } = await load(old);

    expect({ count, skipped }).toEqual({ count: 8, skipped: [] });
    await connect(target);
    expect(await rows('SELECT number, name FROM things ORDER BY 1')).toEqual(
      ['1', '2', '3', '4'].map((number) => [number, text]),
    );
    expect(await rows('SELECT value FROM settings')).toEqual([['changed']]);
    expect(await rows('INSERT INTO things (name) VALUES (NULL) RETURNING number')).toEqual([['6']]);
  });

  it('creates the partitions with their ranges and all indexes', async () => {
    await save();
    await load(old);

    await connect(target);
    expect(await rows('SELECT tableoid::regclass::text, data FROM sales')).toEqual([
      ['sales_1', { kind: text }],
    ]);
    await client.query('INSERT INTO sales VALUES ($1, $2)', [id('9'), '{}']);
    expect(await rows('SELECT count(*)::int FROM sales_2')).toEqual([[1]]);
    const sql = `SELECT relname, count(*)::int FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
      WHERE relname LIKE 'sales%' AND indisvalid GROUP BY 1 ORDER BY 1`;
    expect(await rows(sql)).toEqual([
      ['sales', 2],
      ['sales_1', 2],
      ['sales_2', 2],
    ]);
  });

  it('runs the migrations that are newer than the backup on the restored rows', async () => {
    await save();
    await load(current);

    await connect(target);
    expect(await rows('SELECT DISTINCT price FROM things')).toEqual([[[...text].length]]);
    expect(await rows('SELECT name FROM migrations ORDER BY id')).toEqual(current.map(({ name }) => [name]));
  });

  it('copies one moment, although rows arrive meanwhile', async () => {
    await client.query('BEGIN; INSERT INTO things (name) VALUES (NULL)');
    await save();
    await client.query('COMMIT');

    expect((await check()).contents.tables.find(({ table }) => table === 'things')?.rows).toBe(4);
  });

  it('refuses a backup of a newer version, of another platform, and with another key', async () => {
    await client.end();
    await migrate(source, current);
    client = new pg.Client(source.url);
    await client.connect();
    await save();

    await expect(check(old)).rejects.toThrow('does not know the migration AddPrice1700000000002');
    await expect(check(current, ['another key'])).rejects.toThrow(
      'secrets in 1 of the 2 rows of shop/a_parts',
    );
    const schemas = [schemaWith(current)];
    const readSecretKeys = (): Promise<string[]> => Promise.reject(new Error('there is no SECRET_KEY'));
    await expect(checkArchive(path, { schemas, platform: 'other', readSecretKeys, say })).rejects.toThrow(
      'Set PLATFORM=test',
    );
    const { encryptedRows } = await check(current, ['another key', key]);
    expect(encryptedRows.get('shop/a_parts')).toEqual(['part', '']);
  });

  it('refuses a backup, and a database to replace, whose schema another version created', async () => {
    await save();
    const others = [class CreateShop1000000000001 extends CreateShop1700000000001 {}];
    const reason = 'its migration is CreateShop1700000000001, and this version knows CreateShop1000000000001';
    await expect(check(others)).rejects.toThrow(reason.replace('its migration is', 'has the migration'));

    await migrate(target, others);
    const onState = jest.fn(() => Promise.resolve());
    await expect(load(old, { onState })).rejects.toThrow(
      'its migration is CreateShop1000000000001, and this version knows CreateShop1700000000001',
    );
    expect(onState).not.toHaveBeenCalled();
    await connect(target);
    expect(await rows('SELECT value FROM settings')).toEqual([['new']]);
  });

  it('leaves a mark when it fails, with which no service starts, and begins again the next time', async () => {
    await save();
    const onLoaded = (): Promise<void> => Promise.reject(new Error('killed'));
    await expect(load(current, { onLoaded })).rejects.toThrow('killed');

    const options = { url: target.urlFor('shop'), schema: 'shop', applicationName: 'test', entities: [] };
    const start = () => connectDatabase({ ...options, migrations: [...current], poolSize: 1 });
    await expect(start()).rejects.toThrow('a restore is running, or was interrupted');
    await expect(save(target, `${path}.part`)).rejects.toThrow('a restore is running');
    await untilUnused();
    const states: string[] = [];
    await load(current, { onState: (state) => Promise.resolve(void states.push(state)) });
    expect(states).toEqual(['interrupted']);
    await (await start()).destroy();
  });

  it('reports what the database holds, and changes nothing when that is refused', async () => {
    await save();
    const states: string[] = [];
    await load(current, { onState: (state) => Promise.resolve(void states.push(state)) });
    const onState = (state: string): Promise<void> => Promise.reject(new Error(`it is ${state}`));
    await expect(load(current, { onState })).rejects.toThrow('it is occupied');

    expect(states).toEqual(['empty']);
    await connect(target);
    expect(await rows('SELECT count(*)::int FROM things')).toEqual([[4]]);
    expect(await rows(`SELECT obj_description('shop'::regnamespace, 'pg_namespace')`)).toEqual([[null]]);
  });

  it('does not run beside a service or another restore', async () => {
    await save();
    const options = {
      url: target.urlFor('shop'),
      schema: 'shop',
      applicationName: 'a-service',
      entities: [],
    };
    const service = await connectDatabase({ ...options, migrations: [...current], poolSize: 1 });
    await expect(load()).rejects.toThrow('Programs are using the database: a-service');
    await service.destroy();
    await untilUnused();
    const others: Promise<unknown>[] = [];
    await load(current, {
      onLoaded: async () => {
        others.push(load().catch((error: unknown) => error));
        await Promise.all(others);
      },
    });

    expect(String(await others[0])).toContain('Another restore into this database is running');
  });

  it('skips tables that no migration creates', async () => {
    await client.query('CREATE TABLE of_the_operator AS SELECT 1 AS one');
    await save();

    expect((await load()).skipped).toEqual(['shop.of_the_operator']);
  });

  it('leaves no file when the backup fails', async () => {
    await client.query('DROP TABLE migrations');

    await expect(save()).rejects.toThrow('its service was never started');
    expect(await readdir(directory)).toEqual([]);
  });

  it('has a mark that no operator writes by accident', () => {
    expect(restoreMark).toMatch(/^stream-events: /);
  });
});
