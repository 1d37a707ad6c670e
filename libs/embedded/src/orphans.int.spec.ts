import { jest } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, freePort } from '@stream-events/testing';
import pg, { type QueryResult } from 'pg';
import { startEmbeddedNats } from './embedded-nats.js';
import { startEmbeddedPostgres, type EmbeddedPostgres } from './embedded-postgres.js';
import { isRunning } from './running-process.js';

// Each test creates a cluster and starts servers. A busy machine needs minutes for this.
jest.setTimeout(300_000);

/** The process that the test kills. Runs the built files (`npm test` builds first). */
const PARENT = `
  import { startEmbeddedNats, startEmbeddedPostgres } from '@stream-events/embedded';
  import { freePort } from '@stream-events/testing';
  const directory = process.argv[1];
  const log = () => undefined;
  const postgres = await startEmbeddedPostgres({ directory, log });
  const binary = process.env.TEST_NATS_BINARY;
  await startEmbeddedNats({ directory, port: await freePort(), users: [], log, binary });
  process.on('SIGUSR2', () => process.exit(1));
  console.log(postgres.url);
  setInterval(() => undefined, 1000);
`;

let directory: string;
let parent: ChildProcess;
let cleanUp: (() => Promise<void>)[] = [];

beforeEach(async () => {
  directory = await mkdtemp('/tmp/embedded-orphans-test-');
  await chmod(directory, 0o711);
});
afterEach(async () => {
  await killParent();
  // If a test failed, its servers may still run. Starting again stops them.
  if (cleanUp.length === 0) await startBoth();
  await Promise.all(cleanUp.map((stop) => stop()));
  cleanUp = [];
  await rm(directory, { recursive: true, force: true });
});

async function startParent(): Promise<string> {
  parent = spawn(process.execPath, ['--input-type=module', '--eval', PARENT, directory], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (!parent.stdout) throw new Error('the parent has no output');
  const [line] = (await once(parent.stdout, 'data')) as unknown[];
  return String(line).trim();
}

async function startBoth(log: (line: string) => void = () => undefined): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres({ directory, log });
  cleanUp.push(() => postgres.stop());
  const binary = process.env.TEST_NATS_BINARY;
  const nats = await startEmbeddedNats({
    directory,
    port: await freePort(),
    users: [],
    log,
    ...(binary === undefined ? {} : { binary }),
  });
  cleanUp.push(() => nats.stop());
  return postgres;
}

async function readPids(): Promise<number[]> {
  const files = ['postgres/data/postmaster.pid', 'nats/nats-server.pid'];
  const contents = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  return contents.map((content) => Number(content.split('\n')[0]));
}

async function killParent(): Promise<void> {
  if (parent.exitCode !== null || parent.signalCode !== null) return;
  const ended = once(parent, 'exit');
  parent.kill('SIGKILL');
  await ended;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const result: QueryResult<Record<string, unknown>> = await client.query(sql);
  await client.end();
  return result.rows;
}

describe('a parent that exits without stopping its servers', () => {
  it('asks the servers to stop', async () => {
    await startParent();
    const pids = await readPids();

    parent.kill('SIGUSR2');
    await once(parent, 'exit');

    await eventually(async () => expect(await Promise.all(pids.map(isRunning))).toEqual([false, false]));
  });
});

describe('a start after SIGKILL of the parent', () => {
  it('stops the orphaned servers and keeps committed data', async () => {
    const url = await startParent();
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const orphans = await readPids();
    await killParent();
    expect(await Promise.all(orphans.map(isRunning))).toEqual([true, true]);
    const log: string[] = [];

    const postgres = await startBoth((line) => log.push(line));

    expect(await Promise.all(orphans.map(isRunning))).toEqual([false, false]);
    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(log).toEqual([
      expect.stringContaining(`PostgreSQL: stopped a server (pid ${orphans[0]})`),
      expect.stringContaining(`NATS: stopped a server (pid ${orphans[1]})`),
    ]);
  });

  it('recovers when the servers were killed too', async () => {
    const url = await startParent();
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    const orphans = await readPids();
    await killParent();
    for (const pid of orphans) process.kill(pid, 'SIGKILL');

    const postgres = await startBoth();

    expect(await query(postgres.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
  });

  it('is refused while the parent runs, and does not touch its servers', async () => {
    await startParent();
    const pids = await readPids();

    await expect(startBoth()).rejects.toThrow(`Process ${parent.pid} is using the data`);

    expect(await Promise.all(pids.map(isRunning))).toEqual([true, true]);
  });
});
