import { randomBytes } from 'node:crypto';
import {
  createServiceRoles,
  serviceSchemas,
  urlOfRole,
  type ServiceRole,
} from '@stream-events/database/roles';
import pg from 'pg';
import { ServiceProcess } from './service-process.js';

/** A database for one test file. */
export interface TestDatabase {
  /** URL with superuser credentials, for operations that a service's role may not perform. */
  url: string;
  /** URL with the credentials of the schema's role, as its service gets them. Throws for an unknown schema. */
  urlFor(schema: string): string;
  /** Closes open connections, and drops the database and its own roles. */
  drop(): Promise<void>;
}

/** Variable with the URL of the run's PostgreSQL server. The global setup sets it. */
export const POSTGRES_URL_VARIABLE = 'TEST_POSTGRES_URL';

const CONNECT_TIMEOUT_MS = 30_000;
const QUERY_TIMEOUT_MS = 60_000;
const rolesOptions = { isDedicated: true, connectTimeoutMs: CONNECT_TIMEOUT_MS };

const template = 'services';
/** Held on the server while one worker creates the template. Only tests use it. */
const templateLock = 7105;
const templateRoles = rolesFor(template, Object.values(serviceSchemas));

/**
 * Creates a database on this run's PostgreSQL server: a copy of one that all services have migrated. The roles belong to all copies. They
 * own the tables of every copy, but hold no other rights.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  await runOnServer((client) => ensureTemplate(client));
  const name = newName();
  const connect = templateRoles.map((role) => role.name).join(', ');
  await execute(
    `CREATE DATABASE ${name} TEMPLATE ${template}`,
    // A copy does not get the rights of its template.
    `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`,
    `GRANT CONNECT ON DATABASE ${name} TO ${connect}`,
  );
  return describeDatabase(name, templateRoles, []);
}

/**
 * Creates a database without tables, for tests of migrations, roles, and databases of other programs.
 *
 * @param schemas schemas to create, each with a role of its own. Default: the services' schemas
 */
export async function createEmptyDatabase(
  schemas: readonly string[] = Object.values(serviceSchemas),
): Promise<TestDatabase> {
  const name = newName();
  await execute(`CREATE DATABASE ${name}`);
  // Roles belong to the whole server, so a role's name contains the database's name.
  const roles = rolesFor(name, schemas);
  await createServiceRoles(urlOf(name), roles, rolesOptions);
  return describeDatabase(name, roles, roles);
}

/** Creates the template unless a test has done so before: runs the command `migrate` of each service, like the Helm chart. */
async function ensureTemplate(client: pg.Client): Promise<void> {
  const exists = async (): Promise<boolean> =>
    (await client.query('SELECT FROM pg_database WHERE datname = $1', [template])).rowCount === 1;
  if (await exists()) return;
  await client.query('SELECT pg_advisory_lock($1)', [templateLock]);
  if (await exists()) return;
  // Tests copy the template as soon as it has its name.
  const draft = newName();
  await client.query(`CREATE DATABASE ${draft}`);
  await createServiceRoles(urlOf(draft), templateRoles, rolesOptions);
  await Promise.all(
    Object.entries(serviceSchemas).map(async ([service, schema]) => {
      const environment = {
        DATABASE_URL: urlOfSchema(draft, templateRoles, schema),
        // Nothing listens on port 9: migrations need no NATS.
        NATS_URL: 'nats://nobody:password@127.0.0.1:9',
        SECRET_KEY: 'a key of at least 32 characters for tests',
        PLATFORM: 'simulator',
      };
      // Safe cast: the object has only names of services as keys.
      const app = service as keyof typeof serviceSchemas;
      const { code, output } = await new ServiceProcess(app, environment, { args: ['migrate'] }).runToEnd();
      if (code !== 0) throw new Error(`${service} migrate ended with ${code}:\n${output}`);
    }),
  );
  await client.query(`ALTER DATABASE ${draft} RENAME TO ${template}`);
}

function describeDatabase(
  name: string,
  roles: readonly ServiceRole[],
  ownRoles: readonly ServiceRole[],
): TestDatabase {
  return {
    url: urlOf(name),
    urlFor: (schema) => urlOfSchema(name, roles, schema),
    drop: () =>
      execute(
        `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`,
        ...ownRoles.map((role) => `DROP ROLE IF EXISTS ${role.name}`),
      ),
  };
}

function newName(): string {
  return `test_${randomBytes(8).toString('hex')}`;
}

function rolesFor(database: string, schemas: readonly string[]): ServiceRole[] {
  return schemas.map((schema) => ({
    schema,
    name: `${database}_${schema}`,
    password: `${schema}-${database}`,
  }));
}

function urlOfSchema(database: string, roles: readonly ServiceRole[], schema: string): string {
  const role = roles.find((candidate) => candidate.schema === schema);
  if (role) return urlOfRole(urlOf(database), role);
  const known = roles.map((candidate) => candidate.schema).join(', ');
  throw new Error(`The test database has no role for the schema ${schema}: ${known}.`);
}

function urlOf(database: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${database}`;
  return url.href;
}

function serverUrl(): string {
  const url = process.env[POSTGRES_URL_VARIABLE];
  if (url !== undefined) return url;
  throw new Error(
    `${POSTGRES_URL_VARIABLE} is not set. Run the test with Jest: its global setup sets the variable.`,
  );
}

function execute(...statements: string[]): Promise<void> {
  return runOnServer(async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

async function runOnServer(action: (client: pg.Client) => Promise<void>): Promise<void> {
  const client = new pg.Client({
    connectionString: serverUrl(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
  });
  await client.connect();
  try {
    await action(client);
  } finally {
    await client.end();
  }
}
