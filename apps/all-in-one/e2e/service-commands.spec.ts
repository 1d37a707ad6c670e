import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { serviceSchemas, type DatabaseService } from '@stream-events/database/roles';
import { createEmptyDatabase, freePort, ServiceProcess, type TestDatabase } from '@stream-events/testing';
import pg from 'pg';
import { startLimitMs } from './stack.js';

const services = Object.keys(serviceSchemas) as DatabaseService[]; // Safe cast: Object.keys returns the object's own keys.

/** Tests `node apps/<service>/dist/main.js migrate`, which the Helm chart runs before each install or upgrade. */
describe('the command migrate', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    environment = {
      HOST: '127.0.0.1',
      ADMIN_PORT: String(await freePort()),
      // Nothing listens on port 9: migrations must work without NATS.
      NATS_URL: 'nats://nobody:password@127.0.0.1:9',
      SECRET_KEY: 'a key of at least 32 characters for tests',
      PLATFORM: 'none',
    };
  }, startLimitMs);

  afterAll(() => database.drop());

  const run = (service: DatabaseService, command: string): ReturnType<ServiceProcess['runToEnd']> => {
    const DATABASE_URL = database.urlFor(serviceSchemas[service]);
    return new ServiceProcess(service, { ...environment, DATABASE_URL }, { args: [command] }).runToEnd();
  };

  const listMigrations = async (service: DatabaseService): Promise<string[]> => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      const sql = `SELECT name FROM ${serviceSchemas[service]}.migrations ORDER BY id`;
      const { rows } = await client.query<{ name: string }>(sql);
      return rows.map(({ name }) => name);
    } finally {
      await client.end();
    }
  };

  it.each(services)(
    'of %s applies every migration once, also when it runs twice at a time, and exits',
    async (service) => {
      const [first, second] = await Promise.all([run(service, 'migrate'), run(service, 'migrate')]);
      expect([first, second]).toEqual([
        expect.objectContaining({ code: 0, output: expect.stringContaining('database is migrated') }),
        expect.objectContaining({ code: 0, output: expect.stringContaining('database is migrated') }),
      ]);
      const applied = await listMigrations(service);
      expect(applied.length).toBeGreaterThan(0);
      expect(new Set(applied).size).toBe(applied.length);
      expect(await run(service, 'migrate')).toMatchObject({ code: 0 });
      expect(await listMigrations(service)).toEqual(applied);
    },
    2 * startLimitMs,
  );

  it(
    'exits with code 1 when the database does not let it in',
    async () => {
      const DATABASE_URL = database.urlFor('events').replace(/:[^:@]+@/, ':wrong@');
      const command = new ServiceProcess('events', { ...environment, DATABASE_URL }, { args: ['migrate'] });
      const { code, output } = await command.runToEnd();
      expect(code).toBe(1);
      expect(output).toContain('cannot migrate the database');
    },
    startLimitMs,
  );

  it(
    'is the only command: another one exits with code 2',
    async () => {
      const { code, output } = await run('events', 'migrat');
      expect(code).toBe(2);
      expect(output).toContain('events has no command migrat');
    },
    startLimitMs,
  );
});

/** Tests `node apps/gateway/dist/main.js reset-owner`, for owners who lost their password and do not use `npm start`. */
describe('the command reset-owner', () => {
  let database: TestDatabase;
  let environment: Record<string, string>;

  beforeAll(async () => {
    database = await createEmptyDatabase();
    environment = {
      DATABASE_URL: database.urlFor(serviceSchemas.gateway),
      NATS_URL: 'nats://nobody:password@127.0.0.1:9',
      SECRET_KEY: 'a key of at least 32 characters for tests',
    };
    await new ServiceProcess('gateway', environment, { args: ['migrate'] }).runToEnd();
  }, startLimitMs);

  afterAll(() => database.drop());

  // `script` from util-linux runs a command on a pseudoterminal.
  const onLinux = process.platform === 'linux' ? it : it.skip;
  const runOnTerminal = (variables = environment) => {
    const command = `${process.execPath} apps/gateway/dist/main.js reset-owner`;
    const options = ['--quiet', '--return', '--command', command, '/dev/null'];
    return promisify(execFile)('script', options, { env: { ...process.env, ...variables } });
  };

  onLinux(
    'shows the new password and token on a terminal (needs util-linux)',
    async () => {
      const { stdout } = await runOnTerminal();
      expect(stdout).toMatch(/New credentials.*user {6}admin\s+password {2}\S{20}\s+token {5}\S{20,}/s);
    },
    startLimitMs,
  );

  onLinux(
    'refuses a SECRET_KEY that is not that of the gateways (needs util-linux)',
    async () => {
      const SECRET_KEY = 'another key of at least 32 characters';
      await expect(runOnTerminal({ ...environment, SECRET_KEY })).rejects.toMatchObject({
        stdout: expect.stringContaining('SECRET_KEY lacks a key that is still needed'),
      });
    },
    startLimitMs,
  );

  it(
    'changes nothing when its output may end in a log',
    async () => {
      const { code, output } = await new ServiceProcess('gateway', environment, {
        args: ['reset-owner'],
      }).runToEnd();
      expect(code).toBe(1);
      expect(output).toContain(
        'gateway reset-owner failed: the command shows a password, which must not end up in a log. Run the command in a terminal',
      );
    },
    startLimitMs,
  );
});
