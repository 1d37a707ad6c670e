import { jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createConnection } from 'node:net';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import pg, { type QueryResult } from 'pg';
import { DirectoryLockedError } from './directory-lock.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';

// Each test creates a cluster and starts servers. A busy machine needs minutes for this.
jest.setTimeout(300_000);

const NOT_DURABLE = { fsync: 'off' };

let directory: string;
let running: EmbeddedPostgres[] = [];

beforeEach(async () => {
  // If the test runs as root, PostgreSQL runs as another user. Every user can enter /tmp.
  directory = await mkdtemp('/tmp/embedded-postgres-test-');
  await chmod(directory, 0o711);
});
afterEach(async () => {
  await Promise.all(running.map((server) => server.stop()));
  running = [];
  await rm(directory, { recursive: true, force: true });
});

async function start(log: string[] = []): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({
    directory,
    settings: NOT_DURABLE,
    log: (line) => log.push(line),
  });
  running.push(server);
  return server;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const result: QueryResult<Record<string, unknown>> = await client.query(sql);
    return result.rows;
  } finally {
    await client.end();
  }
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

describe(startEmbeddedPostgres.name, () => {
  it('creates a UTF-8 database with checksums and password authentication at the first start', async () => {
    const { url } = await start();

    expect(new URL(url).pathname).toBe('/stream_events');
    expect(
      await query(
        url,
        `SELECT current_setting('server_encoding') AS encoding, current_setting('data_checksums') AS checksums,
                current_setting('unix_socket_directories') AS sockets, lower('ÄÖ') AS lower,
                (SELECT string_agg(DISTINCT auth_method, ',') FROM pg_hba_file_rules) AS authentication`,
      ),
    ).toEqual([
      { encoding: 'UTF8', checksums: 'on', sockets: '', lower: 'äö', authentication: 'scram-sha-256' },
    ]);
  });

  it('rejects a wrong password', async () => {
    const url = new URL((await start()).url);
    url.password = 'wrong';

    await expect(query(url.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('keeps the password in one file that only the owner can read', async () => {
    const { url, dataHome } = await start();
    const path = join(directory, 'postgres-password');

    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect((await readFile(path, 'utf8')).trim()).toBe(new URL(url).password);
    expect((await readdir(dataHome)).filter((name) => name.startsWith('data.draft'))).toEqual([]);
  });

  it('chooses a new password and keeps the data after the file was deleted', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    await rm(join(directory, 'postgres-password'));

    const second = await start();

    expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    const old = new URL(second.url);
    old.password = new URL(first.url).password;
    await expect(query(old.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('listens on 127.0.0.1 only', async () => {
    const { port } = await start();
    const others = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter(({ address, scopeid }) => address !== '127.0.0.1' && !scopeid)
      .map(({ address }) => address);

    expect(await isOpen('127.0.0.1', port)).toBe(true);
    expect(await Promise.all([...others, '::1'].map((host) => isOpen(host, port)))).not.toContain(true);
  });

  it('keeps data and password after a second start', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();

    const second = await start();

    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(new URL(second.url).password).toBe(new URL(first.url).password);
  });

  it('rejects a second start on the same data while it runs', async () => {
    await start();

    await expect(start()).rejects.toThrow(DirectoryLockedError);
  });

  it('starts after a first start that was interrupted while it created the database', async () => {
    const draft = join(directory, 'postgres', 'data.draft-interrupted');
    await mkdir(join(draft, 'base'), { recursive: true });
    await chmod(join(directory, 'postgres'), 0o711);
    await writeFile(join(draft, 'PG_VERSION'), '18\n');

    const { url, dataHome } = await start();

    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await readdir(dataHome)).not.toContain('data.draft-interrupted');
  });

  it('starts when another program got the pid of a server that was killed', async () => {
    const first = await start();
    await first.stop();
    const data = join(first.dataHome, 'data');
    // The process must belong to the same user. PostgreSQL itself detects the stale pid file if another user's process has the pid.
    const { uid, gid } = await stat(data);
    const other = spawn('sleep', ['600'], { cwd: '/', ...(process.getuid?.() === 0 ? { uid, gid } : {}) });
    await writeFile(join(data, 'postmaster.pid'), `${other.pid ?? ''}\n${data}\n`);

    const { url } = await start();

    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(other.kill('SIGKILL')).toBe(true);
  });

  it('fails with the end of the server log and releases the lock when a setting is wrong', async () => {
    const failure = startEmbeddedPostgres({
      directory,
      settings: { ...NOT_DURABLE, shared_buffers: 'plenty' },
      log: () => undefined,
    });

    await expect(failure).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
    await expect(start()).resolves.toBeDefined();
  });
});
