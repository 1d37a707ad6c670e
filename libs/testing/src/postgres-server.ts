import { startEmbeddedPostgres } from '@stream-events/embedded';
import { startPostgresContainer } from './containers.js';
import { createGuardedDirectory } from './guarded-directory.js';
import { chooseServerSource } from './server-source.js';

/** A PostgreSQL server for tests. It has only the empty database `stream_events`. */
export interface TestPostgres {
  /** postgresql://… with a superuser's credentials. */
  url: string;
  /** Stops the server and removes its data. */
  stop(): Promise<void>;
}

/** Tests need speed and many connections, not durability: the data is removed after the run. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

/** Starts a PostgreSQL server: in a container when a Docker engine responds, otherwise as a child process. */
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
