import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { canLogIn, roleNameOf, serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import { startEmbeddedPostgres } from '@stream-events/embedded';
import {
  createGuardedDirectory,
  eventually,
  freePort,
  ServiceProcess,
  type GuardedDirectory,
} from '@stream-events/testing';
import pg from 'pg';
import { eventBody, eventsPath, send, type EventRecord } from './api.js';
import { startLimitMs } from './stack.js';

const services = Object.keys(serviceSchemas) as DatabaseService[]; // Safe cast: Object.keys returns the object's own keys.
const roles = services.map((service) => roleNameOf('stream_events', service));

describe('the database of npm start', () => {
  let directory: GuardedDirectory;
  let data: string;
  let service: ServiceProcess;
  let token: string;

  beforeAll(async () => {
    directory = await createGuardedDirectory();
    data = join(directory.path, 'simulator');
    const PORT = String(await freePort());
    // ADMIN_PORT = PORT serves health checks on the gateway's port.
    const environment = { DATA_DIR: directory.path, PORT, ADMIN_PORT: PORT, LOG_LEVEL: 'warn' };
    service = new ServiceProcess('all-in-one', environment);
    await start();
    const credentials = await readFile(join(data, 'owner-credentials'), 'utf8');
    token = /^ *token +([0-9a-f]{40})$/m.exec(credentials)?.[1] ?? '';
  }, startLimitMs);

  afterAll(async () => {
    await service.stop();
    await directory.remove();
  }, startLimitMs);

  const start = async (): Promise<void> => {
    await service.start();
    await eventually(() => expect(service.output).toContain('Press Ctrl-C to stop'), { timeoutMs: 60_000 });
  };

  const superuserUrl = async (): Promise<string> => {
    const [, , , port] = (await readFile(join(data, 'postgres/data/postmaster.pid'), 'utf8')).split('\n');
    const password = (await readFile(join(data, 'postgres-password'), 'utf8')).trim();
    return `postgresql://postgres:${password}@127.0.0.1:${port}/stream_events`;
  };

  const urlOf = async (name: DatabaseService): Promise<string> => {
    const url = new URL(await superuserUrl());
    url.username = roleNameOf('stream_events', name);
    url.password = (await readFile(join(data, `postgres-${name}-password`), 'utf8')).trim();
    return url.href;
  };

  const query = async <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> => {
    const client = new pg.Client({ connectionString: url, application_name: 'test' });
    await client.connect();
    try {
      return (await client.query<Row>(sql)).rows;
    } finally {
      await client.end();
    }
  };

  const addEvent = async (): Promise<EventRecord> => {
    const answer = await send<EventRecord>('POST', service.url + eventsPath, { token, body: eventBody() });
    expect(answer.status).toBe(201);
    return answer.json;
  };

  const expectStored = async ({ id }: EventRecord): Promise<void> => {
    expect(await send('GET', `${service.url}${eventsPath}/${id}`, { token })).toMatchObject({ status: 200 });
  };

  /** Expects that every service connects with its own role, and that this role owns everything in the service's schema. */
  const expectSeparateRoles = async (): Promise<void> => {
    const url = await superuserUrl();
    // Services close idle connections and reconnect for the next query, so retry until each has a connection.
    await eventually(async () => {
      const connected = await query<{ role: string; isSuperuser: boolean }>(
        url,
        `SELECT DISTINCT usename AS role, usesuper AS "isSuperuser" FROM pg_stat_activity JOIN pg_user USING (usename)
         WHERE backend_type = 'client backend' AND application_name <> 'test' ORDER BY role`,
      );
      expect(connected).toEqual([...roles].sort().map((role) => ({ role, isSuperuser: false })));
    });
    const owners = await query<{ schema: string; owners: string[] }>(
      url,
      `SELECT relnamespace::regnamespace::text AS schema, array_agg(DISTINCT relowner::regrole::text) AS owners
       FROM pg_class WHERE relnamespace::regnamespace::text IN ('${Object.values(serviceSchemas).join("', '")}')
       GROUP BY schema ORDER BY schema`,
    );
    expect(owners).toEqual(
      services.map((name) => ({
        schema: serviceSchemas[name],
        owners: [roleNameOf('stream_events', name)],
      })),
    );
  };

  it('is used by no superuser, and by each service with its own role', expectSeparateRoles);

  it(
    'is refused, and nothing changes, when another version created one of its schemas',
    async () => {
      const event = await addEvent();
      const rename = (from: string, to: string) =>
        `UPDATE platform_connector.migrations SET name = overlay(name PLACING '${to}' FROM 1 FOR ${from.length})`;
      await query(await superuserUrl(), rename('Create', 'Former'));
      await service.stop();
      const before = await readInstallation();

      const { code, output } = await service.runToEnd();

      expect(code).toBe(1);
      expect(output).toMatch(
        /another version created the schema platform_connector: its migration is FormerPlatformConnector\d{13}, and this version knows CreatePlatformConnector\d{13}\. Nothing was changed\./,
      );
      expect(await readInstallation()).toEqual(before);
      await whileStopped((url) => query(url, rename('Former', 'Create')));
      await start();
      await expectStored(event);
    },
    2 * startLimitMs,
  );

  it(
    'has new passwords after their files were deleted, as docs/security.md describes',
    async () => {
      const event = await addEvent();
      const oldPasswords = [new URL(await superuserUrl()).password];
      for (const name of services) oldPasswords.push(new URL(await urlOf(name)).password);
      await service.stop();
      for (const name of ['postgres', ...services.map((each) => `postgres-${each}`)])
        await rm(join(data, `${name}-password`));
      await start();

      const urls = [await superuserUrl()];
      for (const name of services) urls.push(await urlOf(name));
      for (const [index, url] of urls.entries()) {
        expect(await canLogIn(url)).toBe(true);
        const old = new URL(url);
        old.password = oldPasswords[index]!;
        expect(await canLogIn(old.href)).toBe(false);
      }
      await expectStored(event);
      await expectSeparateRoles();
      for (const url of urls) expect(service.output).not.toContain(new URL(url).password);
    },
    startLimitMs,
  );

  const whileStopped = async <Result>(work: (url: string) => Promise<Result>): Promise<Result> => {
    const postgres = await startEmbeddedPostgres({ directory: data, log: () => undefined });
    try {
      return await work(postgres.url);
    } finally {
      await postgres.stop();
    }
  };

  /** Reads a hash of every table, stream, and secret of the stopped installation. */
  async function readInstallation(): Promise<Record<string, string>> {
    const hashes = await whileStopped(async (url) => {
      const tables = await query<{ name: string }>(
        url,
        `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r'
           AND relnamespace::regnamespace::text IN ('${Object.values(serviceSchemas).join("', '")}')`,
      );
      const rows = await query<{ name: string; hash: string }>(
        url,
        tables
          .map(
            ({ name }) =>
              `SELECT '${name}' AS name, md5(string_agg(t::text, '' ORDER BY t::text)) AS hash FROM ${name} t`,
          )
          .join(' UNION ALL '),
      );
      return rows.map(({ name, hash }) => [name, hash]);
    });
    const files = (await readdir(data, { recursive: true })).filter(
      (path) => /(-password|secret-key)$/.test(path) || /^nats\/.*(meta\.inf|\.blk)$/.test(path),
    );
    const contents = files.map(async (path) => [path, (await readFile(join(data, path))).toString('base64')]);
    // Safe cast: both lists have pairs of texts.
    return Object.fromEntries([...hashes, ...(await Promise.all(contents))]) as Record<string, string>;
  }
});
