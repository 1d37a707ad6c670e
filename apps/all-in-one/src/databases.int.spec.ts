import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canLogIn, serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import { createEmptyDatabase, type TestDatabase } from '@stream-events/testing';
import pg from 'pg';
import { readConfig } from './all-in-one.config.js';
import { prepareEmbeddedDatabase, prepareOwnDatabase, type Databases } from './databases.js';

const services = Object.keys(serviceSchemas) as DatabaseService[]; // Safe cast: Object.keys returns the object's own keys.
const SECRET_KEY = 'the secret key of tests that use a database';

let database: TestDatabase;
let said: string[];

beforeEach(async () => {
  database = await createEmptyDatabase();
  said = [];
});
afterEach(() => database.drop());

async function run(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Returns for each service's role whether it is a superuser and which schemas it owns. */
async function rolesOf(databases: Databases): Promise<unknown[]> {
  const rows = services.map((service) =>
    run(
      databases.urlFor(service),
      `SELECT rolsuper AS "isSuperuser", array_agg(nspname::text) AS schemas
       FROM pg_roles JOIN pg_namespace ON nspowner = pg_roles.oid WHERE rolname = current_user GROUP BY rolsuper`,
    ),
  );
  return (await Promise.all(rows)).flat();
}

const separateRoles = services.map((service) => ({ isSuperuser: false, schemas: [serviceSchemas[service]] }));

describe(prepareOwnDatabase.name, () => {
  const prepare = (environment: Record<string, string>): Promise<Databases> =>
    prepareOwnDatabase(readConfig({ SECRET_KEY, ...environment }), (line) => said.push(line));

  it('creates a role for each service with DATABASE_URL alone', async () => {
    expect(await rolesOf(await prepare({ DATABASE_URL: database.url }))).toEqual(separateRoles);
    expect(said).toEqual([]);
  });

  it('gives the same passwords to several instances, which start at once', async () => {
    const instances = await Promise.all([1, 2, 3].map(() => prepare({ DATABASE_URL: database.url })));
    const urls = instances.map((databases) => services.map((service) => databases.urlFor(service)));

    expect(urls[1]).toEqual(urls[0]);
    expect(urls[2]).toEqual(urls[0]);
    expect(await rolesOf(instances[0]!)).toEqual(separateRoles);
  });

  it('uses the URLs of the services when they are given', async () => {
    const databases = await prepare({
      EVENTS_DATABASE_URL: 'postgres://e@host/db',
      GATEWAY_DATABASE_URL: 'postgres://g@host/db',
      PLATFORM_CONNECTOR_DATABASE_URL: 'postgres://c@host/db',
      STREAMER_MONITOR_DATABASE_URL: 'postgres://m@host/db',
    });

    expect(services.map((service) => new URL(databases.urlFor(service)).username)).toEqual([
      'e',
      'g',
      'c',
      'm',
    ]);
  });

  it('rejects URLs for some services only', () => {
    const environment = {
      SECRET_KEY,
      DATABASE_URL: database.url,
      EVENTS_DATABASE_URL: 'postgres://e@host/db',
    };
    expect(() => readConfig(environment)).toThrow(
      /3 error\(s\)[^]*GATEWAY_DATABASE_URL is required[^]*PLATFORM_CONNECTOR_[^]*STREAMER_MONITOR_/,
    );
  });

  describe('with a role that may not create roles', () => {
    const role = `plain_${randomBytes(6).toString('hex')}`;

    beforeEach(async () => {
      await run(database.url, `CREATE ROLE ${role} LOGIN PASSWORD 'plain secret'`);
      await run(database.url, `ALTER DATABASE ${new URL(database.url).pathname.slice(1)} OWNER TO ${role}`);
    });
    afterEach(async () => {
      await database.drop();
      await run(process.env.TEST_POSTGRES_URL ?? '', `DROP ROLE ${role}`);
    });

    it('warns once, without the password, and uses that role for every service', async () => {
      const url = new URL(database.url);
      url.username = role;
      url.password = 'plain secret';
      const databases = await prepare({ DATABASE_URL: url.href });

      expect(new Set(services.map((service) => databases.urlFor(service)))).toEqual(new Set([url.href]));
      expect(said).toEqual([
        expect.stringMatching(/WARNING: all services use the role of DATABASE_URL.*permission/),
      ]);
      expect(said.join()).not.toMatch(/plain.?secret|plain%20secret/);
    });
  });
});

describe(prepareEmbeddedDatabase.name, () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'stream-events-databases-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const passwordPath = (service: DatabaseService): string => join(directory, `postgres-${service}-password`);

  it('keeps the passwords in files that only the owner can read', async () => {
    const first = await prepareEmbeddedDatabase(database.url, directory);
    const second = await prepareEmbeddedDatabase(database.url, directory);

    expect(await rolesOf(second)).toEqual(separateRoles);
    expect(services.map((service) => second.urlFor(service))).toEqual(
      services.map((service) => first.urlFor(service)),
    );
    expect(await readdir(directory)).toHaveLength(services.length);
    for (const service of services) expect((await stat(passwordPath(service))).mode & 0o777).toBe(0o600);
  });

  it('chooses a new password for a role whose file was deleted', async () => {
    const before = await prepareEmbeddedDatabase(database.url, directory);
    await rm(passwordPath('gateway'));
    const after = await prepareEmbeddedDatabase(database.url, directory);

    expect(await canLogIn(before.urlFor('gateway'))).toBe(false);
    expect(await canLogIn(after.urlFor('gateway'))).toBe(true);
    expect(after.urlFor('events')).toBe(before.urlFor('events'));
  });
});
