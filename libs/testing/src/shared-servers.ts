import { join } from 'node:path';
import { findNatsServer } from '@stream-events/embedded';
import { NATS_BINARY_VARIABLE } from './nats-server.js';
import { startPostgresServer, type TestPostgres } from './postgres-server.js';
import { chooseServerSource } from './server-source.js';
import { POSTGRES_URL_VARIABLE } from './test-database.js';

let postgres: TestPostgres | undefined;

/** Starts PostgreSQL for a test run. Without containers, also finds nats-server. Environment variables pass the URL and the path on. */
export async function startSharedServers(rootDirectory: string): Promise<void> {
  const [server, binary] = await Promise.all([startPostgresServer(), locateNatsServer(rootDirectory)]);
  postgres = server;
  process.env[POSTGRES_URL_VARIABLE] = server.url;
  if (binary !== undefined) process.env[NATS_BINARY_VARIABLE] = binary;
}

/** Stops the shared servers. If the run is killed first, the guard cleans up (see guarded-directory.ts). */
export async function stopSharedServers(): Promise<void> {
  await postgres?.stop();
  postgres = undefined;
}

async function locateNatsServer(rootDirectory: string): Promise<string | undefined> {
  if ((await chooseServerSource()) === 'containers') return undefined;
  return findNatsServer({
    cacheDirectory: join(rootDirectory, 'node_modules/.cache/stream-events'),
    log: (message) => process.stderr.write(`${message}\n`),
  });
}
