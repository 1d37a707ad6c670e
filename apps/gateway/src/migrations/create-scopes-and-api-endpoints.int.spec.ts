import { randomBytes } from 'node:crypto';
import { connectDatabase, createPool } from '@stream-events/database';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import type pg from 'pg';
import { connectGateway, connectTimeoutMs } from '../../test/connect-gateway.js';
import { schema } from '../gateway.database.js';
import { platformSeeds } from '../seeds/platform-seeds.js';
import { Seeds } from '../seeds/seeds.service.js';
import { CreateUsers1763700000000 } from './1763700000000-create-users.js';
import { CreateReplays1764400000000 } from './1764400000000-create-replays.js';
import { CreateScopesAndApiEndpoints1764600000000 } from './1764600000000-create-scopes-and-api-endpoints.js';

// The tables that the platform connector's migration 1764220000000 creates.
const oldTables = `
  CREATE SCHEMA platform_connector;
  CREATE TABLE platform_connector.scopes (
    id uuid PRIMARY KEY, scope text COLLATE "C" NOT NULL, required boolean NOT NULL
  );
  CREATE TABLE platform_connector.api_endpoints (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE, description text NOT NULL,
    endpoint text NOT NULL, method text NOT NULL, reference_url text NOT NULL, token_type text NOT NULL,
    scope uuid REFERENCES platform_connector.scopes (id)
  );
  CREATE TABLE platform_connector.catalogue_seeds (id uuid PRIMARY KEY);`;

const ownScope = 'f0000000-0000-4000-8000-000000000001';
const firstEndpoint = 'f0000000-0000-4000-8000-000000000009';
const secondEndpoint = 'f0000000-0000-4000-8000-000000000002';
const [seededScope, deletedScope] = platformSeeds.scopes;
const [seededEndpoint, deletedEndpoint] = platformSeeds.apiEndpoints;

// In each table, one seed was changed and one deleted. The rows are not in id order.
const oldRows = `
  INSERT INTO platform_connector.scopes VALUES ('${ownScope}', 'own:scope', true), ('${seededScope?.id}', 'renamed', false);
  INSERT INTO platform_connector.api_endpoints (id, description, endpoint, method, reference_url, token_type, scope) VALUES
    ('${firstEndpoint}', 'First', 'first', 'GET', 'https://example.org/1', 'OA', '${ownScope}'),
    ('${seededEndpoint?.id}', 'Mine', 'mine', 'PUT', 'https://example.org/2', 'AP', NULL),
    ('${secondEndpoint}', 'Second', 'second', 'GET', 'https://example.org/3', 'OA', '${seededScope?.id}');
  INSERT INTO platform_connector.catalogue_seeds VALUES ('${seededScope?.id}'), ('${deletedScope?.id}'),
    ('${seededEndpoint?.id}'), ('${deletedEndpoint?.id}');`;

describe(CreateScopesAndApiEndpoints1764600000000.name, () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeEach(async () => {
    database = await createEmptyDatabase([]);
    const options = { schema: 'gateway', applicationName: 'test', poolSize: 1, connectTimeoutMs };
    pool = createPool({ url: database.url, ...options });
  });

  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  /** Migrates as the role in `url`. The default role is a superuser, like the role of every service in version 0.1.0. */
  async function migrate(url = database.url): Promise<void> {
    const dataSource = await connectGateway({ urlFor: () => url }, 1);
    await dataSource.destroy();
  }

  async function select(statement: string): Promise<unknown[][]> {
    return (await pool.query<unknown[]>({ text: statement, rowMode: 'array' })).rows;
  }

  it('copies the rows with their ids and their order, and leaves the old tables as they are', async () => {
    await pool.query(oldTables + oldRows);
    await migrate();

    expect(await select('SELECT scope, id, required FROM gateway.scopes ORDER BY scope')).toEqual([
      ['own:scope', ownScope, true],
      ['renamed', seededScope?.id, false],
    ]);
    expect(
      await select(
        'SELECT id, description, endpoint, method, reference_url, token_type, scope FROM gateway.api_endpoints ORDER BY number',
      ),
    ).toEqual([
      [firstEndpoint, 'First', 'first', 'GET', 'https://example.org/1', 'OA', ownScope],
      [seededEndpoint?.id, 'Mine', 'mine', 'PUT', 'https://example.org/2', 'AP', null],
      [secondEndpoint, 'Second', 'second', 'GET', 'https://example.org/3', 'OA', seededScope?.id],
    ]);
    expect(await select('SELECT count(*)::int FROM platform_connector.api_endpoints')).toEqual([[3]]);
    expect(await select('SELECT count(*)::int FROM platform_connector.catalogue_seeds')).toEqual([[4]]);
  });

  it('keeps deleted seeds deleted and appends the seeds that are new', async () => {
    await pool.query(oldTables + oldRows);
    const dataSource = await connectGateway({ urlFor: () => database.url }, 1);
    await new Seeds(dataSource).apply();
    await dataSource.destroy();

    const scopeIds = (await select('SELECT id FROM gateway.scopes')).flat();
    const endpointIds = (await select('SELECT id FROM gateway.api_endpoints ORDER BY number')).flat();
    expect(scopeIds).toHaveLength(platformSeeds.scopes.length); // one seed deleted, one row added
    expect(scopeIds).not.toContain(deletedScope?.id);
    expect(endpointIds).toEqual([
      firstEndpoint,
      seededEndpoint?.id,
      secondEndpoint,
      ...platformSeeds.apiEndpoints.slice(2).map(({ id }) => id),
    ]);
  });

  it('starts with empty tables in a new installation', async () => {
    await migrate();

    expect(await select('SELECT FROM gateway.scopes')).toEqual([]);
  });

  describe('with users of an earlier version, and without the connector’s schema', () => {
    const missingSchema = { message: expect.stringContaining('has no schema platform_connector') };

    beforeEach(async () => {
      const dataSource = await connectDatabase({
        url: database.url,
        schema: schema.name,
        applicationName: 'test',
        entities: [],
        migrations: [CreateUsers1763700000000, CreateReplays1764400000000],
        poolSize: 1,
      });
      await dataSource.destroy();
      await pool.query(
        `INSERT INTO gateway.users (id, username, username_key, password_hash, role, first_name, last_name, email, is_disabled)
         VALUES ('${ownScope}', 'admin', 'admin', '', 'owner', '', '', '', false)`,
      );
    });

    it('fails until the connector’s schema is copied to this database', async () => {
      await expect(migrate()).rejects.toMatchObject(missingSchema);
      await pool.query(oldTables + oldRows);
      await migrate();

      expect(await select('SELECT count(*)::int FROM gateway.scopes')).toEqual([[2]]);
    });

    it('starts with empty tables after an empty schema is created', async () => {
      await expect(migrate()).rejects.toMatchObject(missingSchema);
      await pool.query('CREATE SCHEMA platform_connector');
      await migrate();

      expect(await select('SELECT FROM gateway.scopes')).toEqual([]);
    });
  });

  describe('with a database role that may not read the old tables', () => {
    let role: string;
    let roleUrl: string;

    beforeEach(async () => {
      role = `gateway_${randomBytes(6).toString('hex')}`;
      await pool.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
      await pool.query(
        `GRANT CONNECT, CREATE ON DATABASE ${new URL(database.url).pathname.slice(1)} TO ${role}`,
      );
      const url = new URL(database.url);
      url.username = role;
      url.password = 'secret';
      roleUrl = url.href;
    });

    afterEach(async () => {
      await pool.query(`DROP OWNED BY ${role}`);
      await pool.query(`DROP ROLE ${role}`);
    });

    it('fails with the statements that give access, and succeeds after them', async () => {
      await pool.query(oldTables + oldRows);
      const error: unknown = await migrate(roleUrl).catch((thrown: unknown) => thrown);

      expect(error).toMatchObject({ message: expect.stringContaining('may not read them') });
      const grants = /run: (GRANT .*;) then/.exec((error as Error).message)?.[1] ?? ''; // Safe cast: the error has a message.
      await pool.query(grants);
      await migrate(roleUrl);
      expect(await select('SELECT count(*)::int FROM gateway.scopes')).toEqual([[2]]);
    });

    it('needs no access to old tables that are empty', async () => {
      await pool.query(oldTables);
      await migrate(roleUrl);

      expect(await select('SELECT FROM gateway.scopes')).toEqual([]);
    });
  });
});
