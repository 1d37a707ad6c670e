import { randomBytes } from 'node:crypto';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import pg from 'pg';
import { databaseOf, roleNameOf, serviceSchemas, urlOfRole, type ServiceRole } from './service-role.js';
import { createServiceRoles } from './service-roles.js';

const services = Object.keys(serviceSchemas) as (keyof typeof serviceSchemas)[]; // Safe cast: Object.keys returns the object's own keys.

let database: TestDatabase;
afterEach(() => database.drop());

/** Runs statements one by one on a new connection, and returns the last one's rows. */
async function run<Row extends pg.QueryResultRow>(url: string, ...statements: string[]): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const sql of statements) ({ rows } = await client.query<Row>(sql));
    return rows;
  } finally {
    await client.end();
  }
}

/** Runs statements one by one, and returns the SQLSTATE of each. */
async function statesOf(url: string, statements: readonly string[]): Promise<[string, string][]> {
  const client = new pg.Client(url);
  await client.connect();
  const states: [string, string][] = [];
  for (const sql of statements) {
    const state = await client.query(sql).then(
      () => 'no error',
      (error: unknown) => (error as pg.DatabaseError).code ?? '', // Safe cast: the server rejects the statement.
    );
    states.push([sql, state]);
  }
  await client.end();
  return states;
}

describe('the role of a service', () => {
  beforeEach(async () => {
    database = await createEmptyDatabase();
    for (const schema of Object.values(serviceSchemas))
      await run(database.urlFor(schema), `CREATE TABLE ${schema}.kept AS SELECT 1 AS answer`);
  });

  describe.each(services)('%s', (service) => {
    const schema = serviceSchemas[service];
    const other = service === 'gateway' ? 'events' : 'gateway';

    it('does in its schema what it wants', async () => {
      const statements = [
        `CREATE TABLE ${schema}.more (id int PRIMARY KEY)`,
        `CREATE INDEX CONCURRENTLY ON ${schema}.more (id)`,
        `DROP TABLE ${schema}.more`,
        `SELECT answer FROM ${schema}.kept`,
      ];
      expect(await run(database.urlFor(schema), ...statements)).toEqual([{ answer: 1 }]);
    });

    it('is denied everything else', async () => {
      const role = roleNameOf(databaseOf(database.url), service);
      const otherRole = roleNameOf(databaseOf(database.url), other);
      const statements = [
        `ALTER ROLE ${role} SUPERUSER`,
        `ALTER ROLE ${role} CREATEROLE`,
        `ALTER ROLE ${otherRole} PASSWORD 'stolen'`,
        `ALTER ROLE ${new URL(database.url).username} PASSWORD 'stolen'`,
        'CREATE ROLE another LOGIN',
        `SET ROLE ${otherRole}`,
        'CREATE DATABASE another',
        `COPY (SELECT 1) TO PROGRAM 'cat'`,
        `COPY ${schema}.kept FROM PROGRAM 'echo 2'`,
        `COPY (SELECT 1) TO '/tmp/another'`,
        `SELECT pg_read_file('/etc/passwd')`,
        `SELECT * FROM ${other}.kept`,
        `INSERT INTO ${other}.kept VALUES (2)`,
        `CREATE TABLE ${other}.another (id int)`,
        `ALTER SCHEMA ${other} OWNER TO ${role}`,
        'CREATE TABLE public.another (id int)',
        'CREATE SCHEMA another',
        'CREATE TEMP TABLE another (id int)',
        'SELECT rolpassword FROM pg_authid',
        `SET session_replication_role = 'replica'`,
        'ALTER SYSTEM SET fsync = off',
      ];
      expect(await statesOf(database.urlFor(schema), statements)).toEqual(
        statements.map((sql) => [sql, '42501']),
      );
    });

    it('cannot connect to the database of another installation', async () => {
      const elsewhere = await createEmptyDatabase([]);
      const url = new URL(database.urlFor(schema));
      url.pathname = new URL(elsewhere.url).pathname;

      await expect(run(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '42501' });
      await elsewhere.drop();
    });
  });
});

describe(createServiceRoles.name, () => {
  let role: ServiceRole;

  beforeEach(async () => {
    database = await createEmptyDatabase([]);
    role = { schema: 'shop', name: `shop_${randomBytes(6).toString('hex')}`, password: 'a first password' };
  });

  afterEach(async () => {
    // This also drops everything that the role owns, so that the role can be dropped.
    await database.drop();
    await run(process.env.TEST_POSTGRES_URL ?? '', `DROP ROLE IF EXISTS ${role.name}`);
  });

  const create = (url = database.url, changed: Partial<ServiceRole> = {}) =>
    createServiceRoles(url, [{ ...role, ...changed }], { isDedicated: true });

  /** Returns the schema's objects that another role owns, without TOAST tables, which are not in the schema. */
  const ownedByOthers = (): Promise<{ name: string }[]> =>
    run(
      database.url,
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'shop'::regnamespace AND relowner <> '${role.name}'::regrole
       UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'shop'::regnamespace AND proowner <> '${role.name}'::regrole
       UNION ALL SELECT typname FROM pg_type WHERE typnamespace = 'shop'::regnamespace AND typowner <> '${role.name}'::regrole
       UNION ALL SELECT stxname FROM pg_statistic_ext
         WHERE stxnamespace = 'shop'::regnamespace AND stxowner <> '${role.name}'::regrole`,
    );

  /** Creates a schema as a service with a superuser's role left it, with every kind of object that migrations can create. */
  const createOldSchema = (url = database.url): Promise<unknown> =>
    run(
      url,
      'CREATE SCHEMA shop',
      'SET search_path = shop',
      `CREATE TYPE size AS ENUM ('small', 'large')`,
      'CREATE DOMAIN price AS int CHECK (VALUE > 0)',
      'CREATE TYPE pair AS (a int, b int)',
      'CREATE SEQUENCE numbers',
      'CREATE TABLE orders (id int NOT NULL, "when" date NOT NULL, PRIMARY KEY (id, "when")) PARTITION BY RANGE ("when")',
      `CREATE TABLE orders_2026 PARTITION OF orders FOR VALUES FROM ('2026-01-01') TO ('2027-01-01')`,
      `CREATE TABLE "Orders of 2027" PARTITION OF orders FOR VALUES FROM ('2027-01-01') TO ('2028-01-01')`,
      'CREATE TABLE items (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, old serial, name text, size size)',
      'CREATE INDEX items_name ON items (name)',
      'CREATE STATISTICS items_statistics ON name, size FROM items',
      'CREATE VIEW names AS SELECT name FROM items',
      'CREATE MATERIALIZED VIEW counts AS SELECT count(*) FROM items',
      'CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql AS $$ SELECT 2 * n $$',
      'CREATE PROCEDURE nothing() LANGUAGE sql AS $$ SELECT 1 $$',
      `INSERT INTO orders VALUES (1, '2026-11-23'), (2, '2027-01-01')`,
      `INSERT INTO items (name, size) VALUES ('cup', 'small')`,
    );

  it('gives the role everything in a schema that a superuser owned, with its rows', async () => {
    await createOldSchema();
    await create();

    expect(await ownedByOthers()).toEqual([]);
    const rows = await run(
      urlOfRole(database.url, role),
      'SET search_path = shop',
      `INSERT INTO items (name, size) VALUES ('pot', 'large')`,
      'ALTER TABLE orders DETACH PARTITION "Orders of 2027" CONCURRENTLY',
      'DROP TABLE "Orders of 2027"',
      'REFRESH MATERIALIZED VIEW counts',
      'DROP PROCEDURE nothing',
      `SELECT id::int, name, twice(2), (SELECT count(*)::int FROM orders) AS orders FROM items ORDER BY id`,
    );
    expect(rows).toEqual([
      { id: 1, name: 'cup', twice: 4, orders: 1 },
      { id: 2, name: 'pot', twice: 4, orders: 1 },
    ]);
  });

  it('changes nothing when it runs again, and gives the role what a superuser created in between', async () => {
    await createOldSchema();
    await create();
    await create();
    await run(database.url, 'CREATE TABLE shop.later (id int)');
    await create();

    expect(await ownedByOthers()).toEqual([]);
  });

  it('works several times at once, on an old schema', async () => {
    await createOldSchema();
    // A call waits at most 30 s for the earlier ones, so many more calls could time out on a slow machine.
    await Promise.all(Array.from({ length: 3 }, () => create()));

    expect(await ownedByOthers()).toEqual([]);
    expect(await run(urlOfRole(database.url, role), 'SELECT name FROM shop.items')).toEqual([
      { name: 'cup' },
    ]);
  });

  it('replaces the password, without sending it', async () => {
    const second = { ...role, password: String.raw`a 'second' \ password: ?/#@%&` };
    await create();
    await create(database.url, second);

    await expect(run(urlOfRole(database.url, role), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(await run(urlOfRole(database.url, second), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    const [stored] = await run<{ password: string }>(
      database.url,
      `SELECT rolpassword AS password FROM pg_authid WHERE rolname = '${role.name}'`,
    );
    expect(stored?.password).toMatch(/^SCRAM-SHA-256\$4096:/);
    await expect(create(database.url, { password: 'pässword' })).rejects.toThrow('ASCII');
  });

  it('takes the attributes of an existing role away', async () => {
    await run(database.url, `CREATE ROLE ${role.name} SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS`);
    await create();

    expect(
      await run(
        database.url,
        `SELECT rolsuper, rolcreatedb, rolcreaterole, rolreplication, rolbypassrls, rolcanlogin
         FROM pg_roles WHERE rolname = '${role.name}'`,
      ),
    ).toEqual([
      {
        rolsuper: false,
        rolcreatedb: false,
        rolcreaterole: false,
        rolreplication: false,
        rolbypassrls: false,
        rolcanlogin: true,
      },
    ]);
  });

  it('rejects a role that has the rights of another role, and the role that it uses itself', async () => {
    await run(database.url, `CREATE ROLE ${role.name}`, `GRANT pg_read_all_data TO ${role.name}`);

    await expect(create()).rejects.toThrow(/rights of pg_read_all_data/);
    await expect(create(database.url, { name: new URL(database.url).username })).rejects.toThrow(
      /cannot be one of them/,
    );
  });

  it('fails with advice when another session uses a table', async () => {
    await createOldSchema();
    const busy = new pg.Client(database.url);
    await busy.connect();
    await busy.query('BEGIN; SELECT * FROM shop.items');

    await expect(create()).rejects.toThrow(/End long transactions/);
    await busy.query('ROLLBACK');
    await busy.end();
    await create();
    expect(await ownedByOthers()).toEqual([]);
  });

  describe('without a superuser', () => {
    let creator: ServiceRole;
    let url: string;

    beforeEach(async () => {
      creator = { schema: '', name: `creator_${randomBytes(6).toString('hex')}`, password: 'secret' };
      await run(database.url, `CREATE ROLE ${creator.name} LOGIN PASSWORD 'secret'`);
      await run(database.url, `ALTER DATABASE ${databaseOf(database.url)} OWNER TO ${creator.name}`);
      url = urlOfRole(database.url, creator);
    });

    afterEach(async () => {
      await database.drop();
      await run(
        process.env.TEST_POSTGRES_URL ?? '',
        `DROP ROLE IF EXISTS ${role.name}`,
        `DROP ROLE ${creator.name}`,
      );
    });

    it('works for a role with CREATEROLE that owns the database and the old schema', async () => {
      await run(database.url, `ALTER ROLE ${creator.name} CREATEROLE`);
      await createOldSchema(url);
      await create(url);
      await create(url);

      expect(await ownedByOthers()).toEqual([]);
      expect(await run(urlOfRole(url, role), 'SELECT name FROM shop.items')).toEqual([{ name: 'cup' }]);
      // After a downgrade, the old version still works with its URL.
      expect(await run(url, 'SELECT name FROM shop.items')).toEqual([{ name: 'cup' }]);
    });

    it('creates the schema when there is none', async () => {
      await run(database.url, `ALTER ROLE ${creator.name} CREATEROLE`);
      await create(url);

      await run(urlOfRole(url, role), 'CREATE TABLE shop.things (id int)');
      expect(await ownedByOthers()).toEqual([]);
    });

    it('fails and changes nothing for a role that may not create roles', async () => {
      await createOldSchema(url);

      await expect(create(url)).rejects.toMatchObject({ code: '42501' });
      expect(await run(database.url, `SELECT FROM pg_roles WHERE rolname = '${role.name}'`)).toEqual([]);
      expect(await run(url, 'SELECT name FROM shop.items')).toEqual([{ name: 'cup' }]);
    });
  });
});
