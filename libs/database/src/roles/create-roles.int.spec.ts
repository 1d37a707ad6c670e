import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { jest } from '@jest/globals';
import { createEmptyDatabase, CuttableProxy, type TestDatabase } from '@stream-events/testing';
import pg from 'pg';
import { serviceSchemas } from './service-role.js';

const variables = {
  EVENTS_DATABASE_URL: serviceSchemas.events,
  GATEWAY_DATABASE_URL: serviceSchemas.gateway,
  PLATFORM_CONNECTOR_DATABASE_URL: serviceSchemas['platform-connector'],
  STREAMER_MONITOR_DATABASE_URL: serviceSchemas['streamer-monitor'],
};

// On a busy machine, Node can take 30 s to start, and each test runs the program once or twice.
jest.setTimeout(180_000);

/** Runs the built program like compose, and calls `onWaiting` when the program prints that it is waiting. */
function runProgram(
  environment: Record<string, string>,
  onWaiting: () => unknown = () => undefined,
): Promise<{ code: number; output: string }> {
  const program = resolve('libs/database/dist/roles/create-roles.main.js');
  return new Promise((done) => {
    const child = execFile(
      process.execPath,
      [program],
      { env: { PATH: process.env.PATH, ...environment } },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, output: stdout + stderr }),
    );
    child.stderr?.once('data', (text) => String(text).startsWith('Waiting') && onWaiting());
  });
}

async function canConnect(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end();
  }
}

describe('the program that creates the roles', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createEmptyDatabase();
  });
  afterEach(() => database.drop());

  /** Returns the variables that compose sets, with passwords that begin with `password`. */
  function environmentWith(password: string): Record<string, string> {
    const environment: Record<string, string> = { DATABASE_URL: database.url };
    for (const [name, schema] of Object.entries(variables)) {
      const url = new URL(database.urlFor(schema));
      url.password = `${password}-${schema}`;
      environment[name] = url.href;
    }
    return environment;
  }

  it('gives the roles the passwords in the URLs, and new ones when it runs with new URLs', async () => {
    const [first, second] = [environmentWith('first'), environmentWith('second')];
    expect(await runProgram(first)).toMatchObject({ code: 0 });
    for (const name of Object.keys(variables))
      expect([name, await canConnect(first[name]!)]).toEqual([name, true]);

    const { code, output } = await runProgram(second);
    expect(code).toBe(0);
    expect(output).not.toMatch(/first|second/);
    for (const name of Object.keys(variables)) {
      expect([name, await canConnect(first[name]!)]).toEqual([name, false]);
      expect([name, await canConnect(second[name]!)]).toEqual([name, true]);
    }
  });

  it('waits for a server that accepts connections before it responds, and says so', async () => {
    const proxy = await CuttableProxy.start(database.url);
    try {
      proxy.hang();
      const environment = { ...environmentWith('slow'), DATABASE_URL: proxy.urlOf(database.url) };

      const { code, output } = await runProgram(environment, () => proxy.heal());
      expect(output).toContain('Waiting for PostgreSQL: timeout expired\n');
      expect(output).toContain('has the roles');
      expect(code).toBe(0);
    } finally {
      await proxy.stop();
    }
  });

  it('lists everything that is wrong with the variables', async () => {
    expect(await runProgram({ DATABASE_URL: database.url })).toMatchObject({
      code: 2,
      output: expect.stringMatching(/4 error\(s\)[^]*EVENTS_DATABASE_URL is required/),
    });
    const shared = Object.fromEntries(Object.keys(variables).map((name) => [name, database.url]));
    expect(await runProgram({ ...shared, DATABASE_URL: database.url })).toMatchObject({
      code: 2,
      output: expect.stringContaining('every service needs its own role'),
    });
  });

  it('fails without the passwords in its output when the role of DATABASE_URL may not create roles', async () => {
    const environment = { ...environmentWith('hidden'), DATABASE_URL: database.urlFor('events') };
    const { code, output } = await runProgram(environment);

    expect(code).toBe(1);
    expect(output).toMatch(/permission denied|cannot be one of them/);
    expect(output).not.toContain('hidden');
    expect(output).not.toContain(new URL(environment.DATABASE_URL).password);
  });
});
