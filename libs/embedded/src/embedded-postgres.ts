import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { startThroughControl, stopThroughControl } from './controlled-postgres.js';
import { lockDirectory, type DirectoryLock } from './directory-lock.js';
import { findFreePort } from './free-port.js';
import { currentSystem, type OperatingSystem } from './operating-system.js';
import { dataPath, ensureCluster, readOrReplacePassword, SUPERUSER } from './postgres-cluster.js';
import { choosePostgresSite, type PostgresSite } from './postgres-site.js';
import type { Log } from './run-command.js';
import { isProgram } from './running-process.js';
import {
  readyTimeoutMs,
  ServerProcess,
  ServerStartError,
  stopOrphan,
  type RunningServer,
  type ServerExit,
  type StopStep,
} from './server-process.js';

export interface EmbeddedPostgresOptions {
  /** Contains the password, and usually the data (see `dataHome`). */
  directory: string;
  /** Default: any free port. */
  port?: number;
  log: Log;
  /** Ends the wait for a server that is starting, and stops the server. Has no effect on Windows. */
  signal?: AbortSignal;
  /** Extra server settings, which override those in postgresql.conf. Tests pass `{ fsync: 'off' }`. */
  settings?: Readonly<Record<string, string>>;
}

/** A running PostgreSQL server. */
export interface EmbeddedPostgres {
  /** URL of the database `stream_events`, with the superuser's password. */
  url: string;
  port: number;
  /** The pid of the postmaster, the parent of PostgreSQL's other processes. */
  pid: number;
  /** Folder with data and log: below `directory`, or below /var/lib/stream-events if the server's user cannot enter `directory`. */
  dataHome: string;
  /** Resolves when the server process ends for any reason. */
  exited: Promise<ServerExit>;
  /** Fast shutdown: rolls back open transactions and flushes the data. Safe to call more than once. */
  stop(): Promise<void>;
  /** Simulates a crash: kills the server with SIGKILL. */
  kill(): Promise<void>;
}

/** Name of the services' database. */
export const DATABASE = 'stream_events';
/** How to stop the server: shutdown modes "fast", then "immediate" (https://www.postgresql.org/docs/current/server-shutdown.html). */
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
];
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * Time limit for startup retries, for example while shared memory is in use. After a kill of PostgreSQL, its workers hold the memory for 1
 * or 2 seconds.
 */
const BUSY_RETRY_MS = 15_000;

/**
 * Starts PostgreSQL on 127.0.0.1 as a child process, or on Windows through pg_ctl. First stops a server that a killed run left behind on
 * the same data. Creates the cluster and its database if they are missing. Commits are durable unless `settings` turn fsync off.
 *
 * @param system only tests pass another system
 * @throws DirectoryLockedError if another process uses the directory
 * @throws ServerStartError with the end of the server's log if the server does not start
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  system: OperatingSystem = currentSystem,
): Promise<EmbeddedPostgres> {
  const site = await choosePostgresSite(options.directory, options.log);
  const lock = await lockDirectory(site.home);
  try {
    await stopLeftOver(site, options.log, system);
    const password = await readOrReplacePassword(options.directory, site);
    await ensureCluster(site, { password, durable: options.settings?.fsync !== 'off', log: options.log });
    return await startServer({ site, lock, password, options, system });
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface ServerSetup {
  site: PostgresSite;
  lock: DirectoryLock;
  password: string;
  options: EmbeddedPostgresOptions;
  system: OperatingSystem;
}

async function startServer(setup: ServerSetup): Promise<EmbeddedPostgres> {
  const { site, options } = setup;
  const deadline = Date.now() + BUSY_RETRY_MS;
  for (;;) {
    const port = options.port ?? (await findFreePort(0));
    const url = (database: string): string =>
      `postgresql://${SUPERUSER}:${setup.password}@127.0.0.1:${port}/${database}`;
    let server: RunningServer;
    try {
      server = await startReadyServer(setup, port, url('postgres'));
    } catch (error) {
      if (!isWorthRetrying(error, options.port) || Date.now() >= deadline) throw error;
      await wait(200);
      continue;
    }
    const end = async (steps: readonly StopStep[]): Promise<void> => {
      await server.stop(steps);
      await setup.lock.release();
    };
    return {
      url: url(DATABASE),
      port,
      pid: server.pid,
      dataHome: site.home,
      exited: server.exited,
      stop: () => end(STOP_STEPS),
      kill: () => end([]),
    };
  }
}

async function startReadyServer(setup: ServerSetup, port: number, url: string): Promise<RunningServer> {
  const server = await startProcess(setup, port);
  try {
    const isReady = async (): Promise<boolean> =>
      (await isListening(setup.site, server.pid)) && (await accepts(url));
    await server.waitUntilReady(isReady, {
      onWait: (seconds) =>
        setup.options.log(
          `PostgreSQL: not ready after ${seconds} s, still waiting; after a crash, it recovers its data`,
        ),
      signal: setup.options.signal,
    });
    await ensureDatabase(url);
    return server;
  } catch (error) {
    await server.stop(STOP_STEPS);
    throw error;
  }
}

/** Starts the server as a child process. On Windows, starts it through pg_ctl, because a child process would have administrator rights. */
function startProcess({ site, options, system }: ServerSetup, port: number): Promise<RunningServer> {
  const settings = settingArguments({ ...options.settings, port: String(port) });
  const { account, binaries } = site;
  const logFile = join(site.home, 'postgres.log');
  if (!system.startsPostgresThroughControl) {
    const args = ['-D', dataPath(site), ...settings];
    return ServerProcess.start({ command: binaries.postgres, args, logFile, account });
  }
  return startThroughControl(
    {
      pgCtl: binaries.pgCtl,
      dataDirectory: dataPath(site),
      args: settings,
      logFile,
      account,
      readyTimeoutMs,
      readPid: () => readPid(site),
    },
    system,
  );
}

function settingArguments(settings: Readonly<Record<string, string>>): string[] {
  const all = {
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...settings,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function isWorthRetrying(error: unknown, givenPort: number | undefined): boolean {
  if (!(error instanceof ServerStartError)) return false;
  // The second message is the one on Windows.
  const portWasTaken =
    givenPort === undefined && /Address already in use|Only one usage of each socket/.test(error.logTail);
  return portWasTaken || error.logTail.includes('shared memory block');
}

/** Checks the pid file (line 1: pid, line 8: state). A test connection would not do, because another server may have the port. */
async function isListening(site: PostgresSite, pid: number | undefined): Promise<boolean> {
  const lines = (await readPidFile(site)).split('\n');
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready';
}

function readPidFile(site: PostgresSite): Promise<string> {
  // No server runs, or it has not written its pid file yet.
  return readFile(join(dataPath(site), 'postmaster.pid'), 'utf8').catch(() => '');
}

/** Returns false if a retry can help. Throws on a wrong password. */
async function accepts(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  try {
    await client.connect();
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '28P01') {
      throw new Error(
        'PostgreSQL rejected the password in the file "postgres-password" in the data folder. Delete this file and start again. The start then sets a new password.',
        {
          cause: error,
        },
      );
    }
    return false;
  } finally {
    // A failed close does not change the result.
    await client.end().catch(() => undefined);
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  await client.connect();
  try {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  } finally {
    await client.end();
  }
}

async function readPid(site: PostgresSite): Promise<number> {
  return Number((await readPidFile(site)).split('\n')[0]);
}

async function stopLeftOver(site: PostgresSite, log: Log, system: OperatingSystem): Promise<void> {
  const pid = await readPid(site);
  const orphan = { pid, program: 'postgres', argument: dataPath(site) };
  const isOurs = await isProgram(pid, orphan.program, orphan.argument);
  if (isOurs && system.startsPostgresThroughControl) {
    const { pgCtl } = site.binaries;
    await stopThroughControl(
      pid,
      { pgCtl, dataDirectory: dataPath(site), account: site.account },
      STOP_STEPS,
    );
  }
  if (isOurs) {
    await stopOrphan(orphan, STOP_STEPS);
    log(`PostgreSQL: stopped a server (pid ${pid}) that an earlier run left behind`);
  }
  // PostgreSQL refuses to start while a process with the pid in this file exists, even an unrelated program or a zombie. Removing the file
  // is safe: if a server still runs on this data, its shared memory blocks a second start.
  await rm(join(dataPath(site), 'postmaster.pid'), { force: true });
}
