import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DATABASE } from './embedded-postgres.js';
import { SUPERUSER } from './postgres-cluster.js';
import { POINTER_FILE } from './postgres-site.js';

/**
 * Finds the PostgreSQL server that another process runs on a data folder. Works only for root and for the user who started the server.
 *
 * @returns the superuser's URL of the database `stream_events`, or undefined if no server is ready
 */
export async function findRunningPostgres(directory: string): Promise<string | undefined> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  const elsewhere = (await read(join(directory, POINTER_FILE))).trim();
  const home = elsewhere === '' ? join(directory, 'postgres') : elsewhere;
  // Lines of postmaster.pid: 1 pid, 2 data folder, 3 start time, 4 port, 8 state.
  const lines = (await read(join(home, 'data', 'postmaster.pid'))).split('\n');
  const password = (await read(join(directory, 'postgres-password'))).trim();
  const port = Number(lines[3]);
  if (lines[7]?.trim() !== 'ready' || !port || password === '' || !isRunning(Number(lines[0])))
    return undefined;
  return `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // stale pid file of a killed server
  }
}
