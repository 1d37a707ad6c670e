import { createEmptyDatabase, eventually, type TestDatabase } from '@stream-events/testing';
import type { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { checkSchema, connectDatabase, type DatabaseOptions } from './connect-database.js';
import { createSchemaMigration } from './schema-migration.js';

/** Can run only once, and takes long enough that the other instances start while it runs. */
class CreateThings1700000000001 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('CREATE TABLE things (id int PRIMARY KEY)');
    await queryRunner.query('SELECT pg_sleep(0.2)');
    await queryRunner.query('INSERT INTO things VALUES (1)');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

class AddMoreThings1700000000002 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('INSERT INTO things SELECT max(id) + 1 FROM things');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

class Fails1700000000003 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('INSERT INTO things VALUES (100)');
    await queryRunner.query('SELECT nothing_of_that_name');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

/**
 * Builds an index while another instance is waiting for the migration lock. PostgreSQL first waits for all running statements, so a waiting
 * statement would deadlock with the build.
 */
class IndexThings1700000000004 implements MigrationInterface {
  readonly transaction = false;

  async up(queryRunner: QueryRunner): Promise<void> {
    await eventually(async () => {
      const waiting = (await queryRunner.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%advisory_lock%'`,
      )) as unknown[];
      expect(waiting).not.toEqual([]);
    });
    await queryRunner.query('CREATE INDEX CONCURRENTLY things_index ON things (id)');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

class ExtendThings1700000000005 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE things ADD COLUMN name text');
  }

  async down(): Promise<void> {
    await Promise.reject(new Error('forward only'));
  }
}

let database: TestDatabase;
beforeEach(async () => {
  database = await createEmptyDatabase();
});
afterEach(() => database.drop());

function options(overrides: Partial<DatabaseOptions> = {}): DatabaseOptions {
  return {
    url: database.url,
    schema: 'shop',
    applicationName: 'shop-test',
    entities: [],
    migrations: [CreateThings1700000000001, AddMoreThings1700000000002],
    poolSize: 2,
    ...overrides,
  };
}

async function readThings(dataSource: DataSource): Promise<number[]> {
  const rows = await dataSource.query<{ id: number }[]>('SELECT id FROM shop.things ORDER BY id');
  return rows.map((row) => row.id);
}

describe(connectDatabase.name, () => {
  it('migrates an empty database once when five instances start at once', async () => {
    const dataSources = await Promise.all(Array.from({ length: 5 }, () => connectDatabase(options())));

    const [first] = dataSources;
    expect(first && (await readThings(first))).toEqual([1, 2]);
    expect(await first?.query('SELECT name FROM shop.migrations ORDER BY id')).toEqual([
      { name: 'CreateThings1700000000001' },
      { name: 'AddMoreThings1700000000002' },
    ]);
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
  });

  it('builds an index concurrently while another instance waits for its turn', async () => {
    const migrations = [CreateThings1700000000001, IndexThings1700000000004];

    const dataSources = await Promise.all([1, 2].map(() => connectDatabase(options({ migrations }))));

    const [first] = dataSources;
    expect(
      await first?.query(
        "SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = 'shop.things_index'::regclass",
      ),
    ).toEqual([{ valid: true }]);
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
  });

  it('lets services with different schemas start at once', async () => {
    const schemas = ['one', 'two', 'three'];

    const dataSources = await Promise.all(schemas.map((schema) => connectDatabase(options({ schema }))));

    for (const [index, dataSource] of dataSources.entries()) {
      const [row] = await dataSource.query<{ schema: string }[]>('SELECT current_schema() AS schema');
      expect(row?.schema).toBe(schemas[index]);
      expect(await dataSource.query('SELECT count(*)::int AS count FROM things')).toEqual([{ count: 2 }]);
    }
    await Promise.all(dataSources.map((dataSource) => dataSource.destroy()));
  });

  it('runs only new migrations at a later start', async () => {
    await (await connectDatabase(options({ migrations: [CreateThings1700000000001] }))).destroy();

    const dataSource = await connectDatabase(options());

    expect(await readThings(dataSource)).toEqual([1, 2]);
    await dataSource.destroy();
  });

  it('refuses a schema that another version created, and changes nothing', async () => {
    const create = (statement: string) => createSchemaMigration('CreateShop', [statement]);
    const [stored, known] = [
      create('CREATE TABLE things (id int)'),
      create('CREATE TABLE things (id bigint)'),
    ];
    await (await connectDatabase(options({ migrations: [stored] }))).destroy();

    const refused = options({ migrations: [known, AddMoreThings1700000000002] });
    const reason = `its migration is ${stored.name}, and this version knows ${known.name}`;
    await expect(connectDatabase(refused)).rejects.toThrow(reason);
    await expect(checkSchema(refused)).rejects.toThrow(reason);

    const dataSource = await connectDatabase(options({ migrations: [stored] }));
    expect(await readThings(dataSource)).toEqual([]);
    await dataSource.destroy();
  });

  it('accepts a schema to which a later version has added migrations', async () => {
    await (await connectDatabase(options())).destroy();

    await checkSchema(options({ migrations: [CreateThings1700000000001] }));
    await (await connectDatabase(options({ migrations: [CreateThings1700000000001] }))).destroy();
  });

  it('leaves neither changes nor a lock of a failed migration', async () => {
    const migrations = [CreateThings1700000000001, Fails1700000000003];

    await expect(connectDatabase(options({ migrations }))).rejects.toThrow('nothing_of_that_name');

    const dataSource = await connectDatabase(options());
    expect(await readThings(dataSource)).toEqual([1, 2]);
    await dataSource.destroy();
  });

  describe('while another session has locked a table', () => {
    const migrations = [CreateThings1700000000001, ExtendThings1700000000005];
    let reader: DataSource;

    beforeEach(async () => {
      reader = await connectDatabase(options({ migrations: [CreateThings1700000000001] }));
    });
    afterEach(() => reader.destroy());

    /** Holds a lock on the table while `work` runs, like a backup. */
    const whileLocked = (work: (unlock: () => Promise<void>) => Promise<void>): Promise<void> =>
      reader.transaction(async (backup) => {
        await backup.query('SET LOCAL idle_in_transaction_session_timeout = 0');
        await backup.query('SELECT FROM things');
        await work(async () => backup.query('COMMIT; BEGIN'));
      });

    const countWaiting = async (): Promise<number> => {
      const rows = await reader.query<unknown[]>(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length;
    };

    it('lets other sessions use the table, and migrates when the lock is released', async () => {
      await whileLocked(async (unlock) => {
        const migrated = connectDatabase(options({ migrations }));
        migrated.catch(() => undefined); // awaited below
        await eventually(async () => expect(await countWaiting()).toBe(1));

        // If the migration had no limit, this statement would queue behind it until the other transaction ends.
        expect(await readThings(reader)).toEqual([1]);

        await unlock();
        const dataSource = await migrated;
        expect(await dataSource.query('SELECT name FROM things')).toEqual([{ name: null }]);
        await dataSource.destroy();
      });
    });

    it('fails with the reason when the lock stays, and changes nothing', async () => {
      await whileLocked(async () => {
        await expect(connectDatabase(options({ migrations }))).rejects.toThrow(
          'cannot migrate schema shop: another session, such as a backup, has locked a table',
        );
      });

      expect(await reader.query('SELECT * FROM things')).toEqual([{ id: 1 }]);
      await (await connectDatabase(options({ migrations }))).destroy();
    });
  });

  it('opens connections with a name, in UTC, and with time limits', async () => {
    const dataSource = await connectDatabase(options());

    const settings = await dataSource.query<unknown[]>(
      `SELECT current_setting('application_name') AS name, current_setting('TimeZone') AS zone,
              current_setting('statement_timeout') AS statement,
              current_setting('idle_in_transaction_session_timeout') AS idle`,
    );

    expect(settings).toEqual([{ name: 'shop-test', zone: 'UTC', statement: '10s', idle: '10s' }]);
    await dataSource.destroy();
  });

  it('does not wait when the database does not exist', async () => {
    const url = new URL(database.url);
    url.pathname = '/absent';
    const startedAt = Date.now();

    await expect(connectDatabase(options({ url: url.href }))).rejects.toThrow(
      /cannot connect to PostgreSQL: database "absent" does not exist/,
    );
    // `connectDatabase` waits 30 s only for a database that is starting.
    expect(Date.now() - startedAt).toBeLessThan(28_000);
  });

  it('keeps the password out of the error when it cannot connect', async () => {
    const url = new URL(database.url);
    url.username = 'nobody_of_that_name';
    url.password = 'hunter2';

    const error: unknown = await connectDatabase(options({ url: url.href })).catch(
      (thrown: unknown) => thrown,
    );

    expect(String(error)).toContain('cannot connect to PostgreSQL');
    expect(String(error)).not.toContain('hunter2');
  });
});
