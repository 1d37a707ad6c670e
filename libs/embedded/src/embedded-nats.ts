import { randomUUID } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { lockDirectory } from './directory-lock.js';
import { unlessMissing } from './error-code.js';
import { findFreePort } from './free-port.js';
import { findNatsServer } from './nats-server-binary.js';
import { currentSystem, type OperatingSystem } from './operating-system.js';
import {
  choosePasswords,
  renderNatsConfig,
  type NatsClusterOptions,
  type NatsUser,
  type NatsUserWithPassword,
} from './nats-server-config.js';
import type { Log } from './run-command.js';
import {
  ServerProcess,
  ServerStartError,
  stopOrphan,
  type ServerExit,
  type StopStep,
} from './server-process.js';

export interface EmbeddedNatsOptions {
  /** Base directory, created if missing. Streams, configuration, and log go into its folder `nats`. */
  directory: string;
  /** Default: any free port. */
  port?: number;
  /** Port to try first if `port` is not set. If it is in use, the server takes any free port. */
  preferredPort?: number;
  users: readonly NatsUser[];
  /** Makes the server a cluster member with a permanent name. The server can be ready before the cluster is. */
  member?: { serverName: string; cluster: NatsClusterOptions };
  log: Log;
  /** Ends the wait for a server that is starting, and stops the server. */
  signal?: AbortSignal;
  /** Path of the nats-server program. Default: `findNatsServer` with `directory` as its cache. */
  binary?: string;
}

/** A running nats-server. */
export interface EmbeddedNats {
  /** Contains no credentials. */
  url: string;
  port: number;
  pid: number;
  /** URL with the user's credentials. Throws for an unknown user. */
  urlFor(userName: string): string;
  /** Resolves when the server process ends for any reason. */
  exited: Promise<ServerExit>;
  /** Shuts down gracefully; on Windows, kills the server. Safe to call more than once. */
  stop(): Promise<void>;
  /** Simulates a crash: kills the server with SIGKILL. */
  kill(): Promise<void>;
}

/** How to stop the server. After SIGINT, it flushes its streams and usually exits within a second. */
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 10_000 },
  { signal: 'SIGTERM', waitMs: 5_000 },
];
const PROBE_TIMEOUT_MS = 1_000;
const maxPortAttempts = 3;

/**
 * Starts a nats-server with JetStream on 127.0.0.1 as a child process. First stops a server that a killed run left behind on the same
 * directory.
 *
 * @param system only tests pass another system
 * @throws DirectoryLockedError if another process uses the directory
 * @throws ServerStartError with the end of the server's log if the server does not start
 */
export async function startEmbeddedNats(
  options: EmbeddedNatsOptions,
  system: OperatingSystem = currentSystem,
): Promise<EmbeddedNats> {
  await mkdir(join(options.directory, 'nats'), { recursive: true, mode: 0o700 });
  const directory = await realpath(join(options.directory, 'nats'));
  const lock = await lockDirectory(directory);
  try {
    await stopLeftOver(directory, options.log);
    const binary =
      options.binary ?? (await findNatsServer({ cacheDirectory: options.directory, log: options.log }));
    const users = choosePasswords(options.users);
    const { server, port } = await startOnFreePort({
      directory,
      binary,
      users,
      port: options.port,
      preferredPort: options.preferredPort,
      member: options.member,
      system,
      log: options.log,
      signal: options.signal,
    });
    const end = async (steps: readonly StopStep[]): Promise<void> => {
      await server.stop(steps);
      await rm(pidPath(directory), { force: true });
      await lock.release();
    };
    return {
      url: `nats://127.0.0.1:${port}`,
      port,
      pid: server.pid,
      urlFor: (userName) => urlFor(users, userName, port),
      exited: server.exited,
      stop: () => end(STOP_STEPS),
      kill: () => end([]),
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

interface ServerSetup {
  directory: string;
  binary: string;
  users: readonly NatsUserWithPassword[];
  port: number | undefined;
  preferredPort: number | undefined;
  system: OperatingSystem;
  member: EmbeddedNatsOptions['member'];
  log: Log;
  signal: AbortSignal | undefined;
}

/** Starts the server on the given port, or on a free one. Tries another free port if another program takes the port first. */
async function startOnFreePort(setup: ServerSetup): Promise<{ server: ServerProcess; port: number }> {
  if (setup.port !== undefined) return startServer(setup, setup.port);
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort(attempt === 1 ? (setup.preferredPort ?? 0) : 0);
    try {
      return await startServer(setup, port);
    } catch (error) {
      const isTaken = error instanceof ServerStartError && /address already in use/i.test(error.logTail);
      if (!isTaken || attempt === maxPortAttempts) throw error;
    }
  }
}

async function startServer(
  setup: ServerSetup,
  port: number,
): Promise<{ server: ServerProcess; port: number }> {
  const serverName = setup.member?.serverName ?? `embedded-${randomUUID()}`;
  await writeConfig(
    setup.directory,
    renderNatsConfig({
      serverName,
      host: '127.0.0.1',
      port,
      storeDirectory: join(setup.directory, 'jetstream'),
      pidFile: pidPath(setup.directory),
      users: setup.users,
      cluster: setup.member?.cluster,
    }),
  );
  const server = await ServerProcess.start(
    {
      command: setup.binary,
      args: ['--config', configPath(setup.directory)],
      logFile: join(setup.directory, 'nats-server.log'),
    },
    setup.system,
  );
  try {
    await server.waitUntilReady(() => isServing(port, serverName), {
      onWait: (seconds) =>
        setup.log(
          `NATS: not ready after ${seconds} s, still waiting; after a crash, it reads all of its streams`,
        ),
      signal: setup.signal,
    });
  } catch (error) {
    await server.stop(STOP_STEPS);
    throw error;
  }
  return { server, port };
}

/** Creates the file with mode 0600, because it contains passwords. The rename makes the write atomic. */
async function writeConfig(directory: string, content: string): Promise<void> {
  const draft = `${configPath(directory)}.${randomUUID()}`;
  await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
  await rename(draft, configPath(directory));
}

/** The server greets each connection with `INFO {…}`. The name in the greeting shows whether our server or another one has the port. */
function isServing(port: number, serverName: string): Promise<boolean> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1' });
    const finish = (isReady: boolean): void => {
      socket.destroy();
      resolve(isReady);
    };
    socket.setTimeout(PROBE_TIMEOUT_MS, () => finish(false));
    // The server does not listen yet. The caller tries again.
    socket.once('error', () => finish(false));
    socket.once('close', () => finish(false));
    socket.on('data', (chunk) => {
      received += chunk.toString('utf8');
      if (received.includes('\n')) finish(received.startsWith('INFO ') && received.includes(serverName));
    });
  });
}

async function stopLeftOver(directory: string, log: Log): Promise<void> {
  const pid = Number(await unlessMissing(readFile(pidPath(directory), 'utf8')));
  const argument = configPath(directory);
  if ((await stopOrphan({ pid, program: 'nats-server', argument }, STOP_STEPS)) === 'stopped') {
    log(`NATS: stopped a server (pid ${pid}) that an earlier run left behind`);
  }
}

function urlFor(users: readonly NatsUserWithPassword[], name: string, port: number): string {
  const user = users.find((candidate) => candidate.name === name);
  if (!user)
    throw new Error(
      `The nats-server has no user "${name}". Its users: ${users.map((user) => user.name).join(', ')}`,
    );
  return `nats://${encodeURIComponent(user.name)}:${encodeURIComponent(user.password)}@127.0.0.1:${port}`;
}

function configPath(directory: string): string {
  return join(directory, 'nats-server.conf');
}

function pidPath(directory: string): string {
  return join(directory, 'nats-server.pid');
}
