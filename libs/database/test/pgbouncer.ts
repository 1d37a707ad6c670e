import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@stream-events/testing';

/** Returns why PgBouncer cannot run here; undefined when it can. */
export function whyNoPgBouncer(): string | undefined {
  return spawnSync('pgbouncer', ['--version']).error ? 'pgbouncer is not installed' : undefined;
}

/** PgBouncer in front of the database of a URL. */
export interface PgBouncer {
  url: string;
  stop(): Promise<void>;
}

/** Starts PgBouncer on a free port, with the given mode and settings. */
export async function startPgBouncer(
  databaseUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  settings: Record<string, string> = {},
): Promise<PgBouncer> {
  const { hostname, port, pathname, username, password } = new URL(databaseUrl);
  const database = pathname.slice(1);
  const listenPort = await freePort();
  const isRoot = process.getuid?.() === 0;
  const directory = await mkdtemp(join(isRoot ? '/tmp' : tmpdir(), 'pgbouncer-'));
  // PgBouncer refuses to run as root, so root starts it as another user, who must be able to read this directory.
  if (isRoot) await chmod(directory, 0o755);
  const file = join(directory, 'pgbouncer.ini');
  const server = `host=${hostname} port=${port} user=${username} password=${password}`;
  const options = {
    listen_addr: '127.0.0.1',
    listen_port: String(listenPort),
    unix_socket_dir: '',
    // Accept every client, and log in to PostgreSQL as the user in the `[databases]` line.
    auth_type: 'any',
    pool_mode: mode,
    ...settings,
  };
  const lines = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
  await writeFile(file, ['[databases]', `${database} = ${server}`, '[pgbouncer]', ...lines, ''].join('\n'));
  const nobody = 65_534;
  const child = spawn('pgbouncer', [file], {
    ...(isRoot && { uid: nobody, gid: nobody }),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await untilListening(child);
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String(listenPort);
  return {
    url: url.href,
    stop: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(directory, { recursive: true });
    },
  };
}

async function untilListening(child: ChildProcess): Promise<void> {
  let log = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`pgbouncer has ended:\n${log}`)));
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString();
      if (log.includes('process up')) resolve();
    });
  });
}
