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
  type NatsUser,
} from '@stream-events/embedded';
import { PrimaryClient, toPrimary } from '@stream-events/database';
import type pg from 'pg';

export interface ServersOptions {
  /** PostgreSQL's data folder. Default: a new folder, which `stop` deletes. */
  postgresDirectory?: string | undefined;
  /** Default: the settings of `npm start`. */
  postgresSettings?: Readonly<Record<string, string>>;
  /** Default: the users of one installation of this checkout. */
  natsUsers?: readonly NatsUser[];
}

/** How services and tools reach PostgreSQL and NATS. */
export interface ServerAddresses {
  /** Superuser's URL. */
  readonly postgres: { readonly url: string };
  /** `urlFor` returns a user's `NATS_URL`. */
  readonly nats: { urlFor(userName: string): string };
  /** Path of the nats-server program. */
  readonly natsBinary: string;
}

/** Servers that a test has started for itself. */
export interface ServerSet extends ServerAddresses {
  /** Creates an empty database. Keeps databases of earlier runs. Returns its URL. */
  createDatabase(name: string): Promise<string>;
  /** Stops the servers. Deletes their data, except in a folder that the caller chose. */
  stop(): Promise<void>;
}

/** PostgreSQL and NATS with the durable settings of `npm start`. */
export interface Servers extends ServerSet {
  readonly postgres: EmbeddedPostgres;
  readonly nats: EmbeddedNats;
  /** Starts a stopped or killed server again, with the same port and data. Resolves when it responds. */
  restart(name: 'postgres' | 'nats'): Promise<void>;
}

// The temporary folder can be in memory. The tests measure durable storage, so use a folder on disk.
export const parentDirectory = '/var/tmp';

const running = new Set<() => Promise<void>>();
// The servers run in their own session, so Ctrl-C does not reach them.
const stopRunning = (): void =>
  void Promise.all([...running].map((stop) => stop())).finally(() => process.exit(130));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stopRunning);

/** Stops the servers on Ctrl-C. Call the returned function before you stop them yourself, so that Ctrl-C does not stop them again. */
export function stopOnInterrupt(stop: () => Promise<void>): () => void {
  running.add(stop);
  return () => void running.delete(stop);
}

export async function startServers(options: ServersOptions = {}): Promise<Servers> {
  const { postgresDirectory, postgresSettings = {} } = options;
  const directory = await mkdtemp(join(parentDirectory, 'stream-events-system-test-'));
  const log = (): void => undefined;
  const startPostgres = (port?: number): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({
      directory: postgresDirectory ?? directory,
      log,
      settings: postgresSettings,
      ...(port !== undefined && { port }),
    });
  let postgres = await startPostgres();
  const binary = await findNatsServer({ cacheDirectory: 'node_modules/.cache/stream-events', log });
  // Choose the passwords here, so that they survive a restart.
  const users = choosePasswords(options.natsUsers ?? Object.values(natsUsers));
  const startNats = (port?: number): Promise<EmbeddedNats> =>
    startEmbeddedNats({ directory, users, binary, log, ...(port !== undefined && { port }) });
  let nats = await startNats();
  const stop = async (): Promise<void> => {
    await nats.stop();
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
    // Under root, PostgreSQL keeps its data elsewhere, in a folder that its user can enter.
    if (postgresDirectory === undefined) await rm(postgres.dataHome, { recursive: true, force: true });
  };
  const forget = stopOnInterrupt(stop);
  return {
    get postgres() {
      return postgres;
    },
    get nats() {
      return nats;
    },
    natsBinary: binary,
    restart: async (name) => {
      if (name === 'postgres') postgres = await startPostgres(postgres.port);
      else nats = await startNats(nats.port);
    },
    createDatabase: (name) => createDatabase(postgres.url, name),
    stop: async () => {
      forget();
      await stop();
    },
  };
}

/** Returns the new database's URL. */
export async function createDatabase(serverUrl: string, name: string): Promise<string> {
  await runSql(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Opens a new connection to the primary. */
export async function runSql<Row extends pg.QueryResultRow>(
  url: string,
  ...statements: string[]
): Promise<Row[]> {
  const client = new PrimaryClient(toPrimary(url));
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) ({ rows } = await client.query<Row>(statement));
    return rows;
  } finally {
    await client.end();
  }
}
