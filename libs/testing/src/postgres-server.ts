import { startEmbeddedPostgres } from '@stream-events/embedded';
import { startPostgresContainer } from './containers.js';
import { createGuardedDirectory } from './guarded-directory.js';
import { chooseServerSource } from './server-source.js';

/** A PostgreSQL server for tests, with the empty database `stream_events`. */
export interface TestPostgres {
  /** Contains a superuser's credentials. */
  url: string;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Trade durability for speed, because the data is removed after the run. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '1000',
};

/** Starts PostgreSQL in a container if a Docker engine responds, and as a child process if not. */
export async function startPostgresServer(): Promise<TestPostgres> {
  const source = await chooseServerSource();
  return source === 'containers' ? startPostgresContainer(SETTINGS) : startGuardedPostgres();
}

async function startGuardedPostgres(): Promise<TestPostgres> {
  const directory = await createGuardedDirectory();
  try {
    const server = await startEmbeddedPostgres({
      directory: directory.path,
      settings: SETTINGS,
      log: () => undefined,
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      await directory.remove();
    };
    return { url: server.url, stop };
  } catch (error) {
    await directory.remove();
    throw error;
  }
}
