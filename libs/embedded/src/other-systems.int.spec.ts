import { jest } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { freePort } from '@stream-events/testing';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedNats, type EmbeddedNats } from './embedded-nats.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { currentSystem, type OperatingSystem } from './operating-system.js';
import { askProcessTool, identifyProcess, isRunning } from './running-process.js';

// The PostgreSQL tests each create a data directory and start servers. On a busy machine, this can take minutes.
jest.setTimeout(300_000);

/** Starts and stops servers as on Windows, with this system's paths and process tool. */
const asOnWindows: OperatingSystem = {
  ...currentSystem,
  hasSignals: false,
  startsPostgresThroughControl: true,
  canFlushFolders: false,
  inheritsLogFiles: false,
};

let directory: string;
const running: { stop(): Promise<void> }[] = [];
beforeEach(async () => {
  // PostgreSQL's user must be able to enter the folder, so use /tmp.
  directory = await mkdtemp('/tmp/embedded-other-systems-test-');
  await chmod(directory, 0o711);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await rm(directory, { recursive: true, force: true });
});

describe('PostgreSQL on Windows', () => {
  const settings = { fsync: 'off' };
  async function start(): Promise<EmbeddedPostgres> {
    const server = await startEmbeddedPostgres({ directory, log: () => undefined, settings }, asOnWindows);
    running.push(server);
    return server;
  }

  async function query(postgres: EmbeddedPostgres, sql: string): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(sql)).rows;
    } finally {
      await client.end();
    }
  }

  it('starts and stops through pg_ctl, and keeps the data without recovery', async () => {
    const first = await start();
    await query(first, 'CREATE TABLE kept AS SELECT 42 AS value');
    await first.stop();
    expect(await isRunning(first.pid)).toBe(false);
    expect(await first.exited).toEqual({ code: null, signal: null });

    const second = await start();
    expect(await query(second, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    const log = await readFile(join(second.dataHome, 'postgres.log'), 'utf8');
    await second.stop();
    expect(log).toContain('ready to accept connections');
    expect(log).not.toContain('not properly shut down');
  });

  it('notices the end of a killed server, and starts again with its data', async () => {
    const first = await start();
    await query(first, 'CREATE TABLE kept AS SELECT 42 AS value');
    process.kill(first.pid, 'SIGKILL');
    await first.exited;
    await first.stop();

    const second = await start();
    expect(await query(second, 'SELECT value FROM kept')).toEqual([{ value: 42 }]);
    await second.stop();
  });

  it('shows the end of the log when the server does not start', async () => {
    await (await start()).stop();
    const faulty = startEmbeddedPostgres(
      { directory, log: () => undefined, settings: { ...settings, shared_buffers: 'nonsense' } },
      asOnWindows,
    );
    await expect(faulty).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
  });
});

describe('nats-server on Windows', () => {
  const users = [{ name: 'admin', publish: ['>'], subscribe: ['>'] }];
  async function start(): Promise<EmbeddedNats> {
    const binary = process.env.TEST_NATS_BINARY;
    const options = { directory, port: await freePort(), users, log: () => undefined };
    const server = await startEmbeddedNats(
      { ...options, ...(binary !== undefined && { binary }) },
      asOnWindows,
    );
    running.push(server);
    return server;
  }
  function connectTo(server: EmbeddedNats): Promise<NatsConnection> {
    const { username: user, password: pass } = new URL(server.urlFor('admin'));
    return connect({ servers: server.url, user, pass });
  }

  it('is killed at each stop, and keeps its streams and its log', async () => {
    const first = await start();
    const connection = await connectTo(first);
    await (await jetstreamManager(connection)).streams.add({ name: 'KEPT', subjects: ['kept.>'] });
    await jetstream(connection).publish('kept.one', 'content');
    await connection.close();
    await first.stop();
    expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
    expect(await readFile(join(directory, 'nats/nats-server.log'), 'utf8')).toContain('Server is ready');

    const second = await start();
    const again = await connectTo(second);
    const { state } = await (await jetstreamManager(again)).streams.info('KEPT');
    await again.close();
    await second.stop();
    expect(state.messages).toBe(1);
  });
});

describe(askProcessTool.name, () => {
  it('describes this process without /proc, always in the same way', async () => {
    const first = await askProcessTool(process.pid);
    expect(first?.commandLine).toContain('node');
    expect(await askProcessTool(process.pid)).toEqual(first);
    expect(await identifyProcess(process.pid)).toBeDefined();
  });

  it('finds no process for a pid that no process has', async () => {
    expect(await askProcessTool(2 ** 22 + 1)).toBeUndefined();
  });
});
