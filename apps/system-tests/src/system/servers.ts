import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { natsUsers } from '@stream-events/contracts';
import {
  choosePasswords,
  findNatsServer,
  startEmbeddedNats,
  startEmbeddedPostgres,
  type EmbeddedNats,
  type EmbeddedPostgres,
} from '@stream-events/embedded';
import pg from 'pg';
import { RestartableServer } from './restartable-server.js';

/** PostgreSQL and NATS as a laptop has them: durable, with the settings of `npm start`, below a folder of their own. */
export interface Servers {
  readonly postgres: EmbeddedPostgres;
  readonly nats: EmbeddedNats;
  /** The same two, for those who take them away. */
  readonly restartable: {
    postgres: RestartableServer<EmbeddedPostgres>;
    nats: RestartableServer<EmbeddedNats>;
  };
  /** An empty database; the old ones of this run stay where they are. */
  createDatabase(name: string): Promise<string>;
  /** Ends both and removes their data. */
  stop(): Promise<void>;
}

// On a disk, unlike the folder for temporary files of some systems: what is measured is durable.
const parentDirectory = '/var/tmp';

export async function startServers(): Promise<Servers> {
  const directory = await mkdtemp(join(parentDirectory, 'stream-events-trial-'));
  const log = (): void => undefined;
  const postgres = await RestartableServer.start((port) =>
    startEmbeddedPostgres({ directory, log, ...(port !== undefined && { port }) }),
  );
  const binary = await findNatsServer({ cacheDirectory: 'node_modules/.cache/stream-events', log });
  // Chosen here: a server that is started again knows its users by the same passwords.
  const users = choosePasswords(Object.values(natsUsers));
  const nats = await RestartableServer.start((port) =>
    startEmbeddedNats({ directory, users, binary, log, ...(port !== undefined && { port }) }),
  );
  const stop = async (): Promise<void> => {
    await nats.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
    // As root, PostgreSQL keeps its data elsewhere: a folder that its user can enter.
    await rm(postgres.current.dataHome, { recursive: true, force: true });
  };
  const stopOnSignal = (): void => void stop().finally(() => process.exit(130));
  // They have a session of their own, which Ctrl-C does not reach.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stopOnSignal);
  return {
    get postgres() {
      return postgres.current;
    },
    get nats() {
      return nats.current;
    },
    restartable: { postgres, nats },
    createDatabase: (name) => createDatabase(postgres.current.url, name),
    stop,
  };
}

async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await runSql(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Runs statements on a connection of their own. */
export async function runSql<Row extends pg.QueryResultRow>(
  url: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
