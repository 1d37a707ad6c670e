import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '@stream-events/embedded';
import pg from 'pg';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';

/** Options of `PostgresPair.start`. */
export interface PostgresPairOptions {
  /** Data directory of both servers. The caller removes it. */
  directory: string;
  settings?: Readonly<Record<string, string>>;
}

interface Place {
  directory: string;
  port: number;
}

// Keep enough write-ahead log for a new standby, which needs every change since its copy started.
const replicationSettings = {
  wal_level: 'replica',
  wal_keep_size: '1GB',
  wal_receiver_status_interval: '1s',
};
const connectTimeoutMs = 5_000;
// Time limit for a new standby to start and catch up with the primary, on a busy machine.
const replicationLimitMs = 120_000;
// tar exits with 1 when a file changed while tar read it. Replaying the write-ahead log repairs such files.
const filesChanged = 1;
// Files of the running primary, and files that PostgreSQL creates at startup:
// https://www.postgresql.org/docs/current/continuous-archiving.html
const notCopied = [
  './pg_wal/*',
  './postmaster.pid',
  './postmaster.opts',
  './pg_replslot/*',
  './pg_stat_tmp/*',
];

/** A PostgreSQL primary with a synchronous standby. A commit returns when both have the change on disk. */
export class PostgresPair {
  private constructor(
    private readonly options: PostgresPairOptions,
    private primaryServer: EmbeddedPostgres,
    private standbyServer: EmbeddedPostgres,
  ) {}

  static async start(options: PostgresPairOptions): Promise<PostgresPair> {
    const places = [
      { directory: join(options.directory, 'postgres-1'), port: await freePort() },
      { directory: join(options.directory, 'postgres-2'), port: await freePort() },
    ] as const;
    // Under root, PostgreSQL runs as another user. This user must be able to enter the folder.
    await chmod(options.directory, 0o711);
    const primary = await startServer(places[0], options.settings ?? {});
    const standby = await createStandby(primary, places[1], options.settings ?? {});
    await makeSynchronous(primary);
    return new PostgresPair(options, primary, standby);
  }

  get primary(): EmbeddedPostgres {
    return this.primaryServer;
  }

  get standby(): EmbeddedPostgres {
    return this.standbyServer;
  }

  /** The URL of a database, with both servers as hosts in a fixed order. Stays the same after a promotion. */
  urlOf(database: string): string {
    const [first, second] = [this.primary, this.standby].map(({ port }) => port).sort((a, b) => a - b);
    const url = new URL(this.primary.url);
    return `postgresql://${url.username}:${url.password}@127.0.0.1:${first},127.0.0.1:${second}/${database}`;
  }

  /**
   * Promotes the standby, as an operator or failover manager would. Stop the old primary first. Until `rejoin`, commits do not wait for a
   * standby.
   */
  async promote(): Promise<void> {
    await query(this.standby.url, 'ALTER SYSTEM RESET synchronous_standby_names');
    await query(this.standby.url, 'SELECT pg_reload_conf()');
    await query(this.standby.url, 'SELECT pg_promote(true, 60)');
    [this.primaryServer, this.standbyServer] = [this.standbyServer, this.primaryServer];
  }

  /** Makes the stopped old primary a synchronous standby of the new primary, from a fresh copy of the data. */
  async rejoin(): Promise<void> {
    const { dataHome, port } = this.standby;
    await rm(join(dataHome, 'data'), { recursive: true, force: true });
    const place = { directory: join(dataHome, '..'), port };
    this.standbyServer = await createStandby(this.primary, place, this.options.settings ?? {});
    await makeSynchronous(this.primary);
  }

  async killPrimary(): Promise<void> {
    await this.primary.kill();
  }

  async stopStandby(): Promise<void> {
    await this.standby.stop();
  }

  async startStandby(): Promise<void> {
    const { dataHome, port } = this.standby;
    const place = { directory: join(dataHome, '..'), port };
    this.standbyServer = await startServer(place, {
      ...this.options.settings,
      ...followSettings(this.primary),
    });
  }

  async stop(): Promise<void> {
    // Stop the primary first: while it shuts down, it sends its last changes to the standby.
    await this.primary.stop();
    await this.standby.stop();
  }
}

async function startServer(
  { directory, port }: Place,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> {
  await mkdir(directory, { recursive: true });
  await chmod(directory, 0o711);
  return startEmbeddedPostgres({
    directory,
    port,
    settings: { ...replicationSettings, ...settings },
    log: () => undefined,
  });
}

function followSettings({ url }: EmbeddedPostgres): Record<string, string> {
  const { port, username, password } = new URL(url);
  return { primary_conninfo: `host=127.0.0.1 port=${port} user=${username} password=${password}` };
}

/** Creates a standby from a copy of the running primary. Replaces pg_basebackup, which embedded PostgreSQL does not ship. */
async function createStandby(
  primary: EmbeddedPostgres,
  place: Place,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> {
  const source = join(primary.dataHome, 'data');
  const home = join(place.directory, 'postgres');
  const target = join(home, 'data');
  await mkdir(target, { recursive: true });
  for (const folder of [place.directory, home]) await chmod(folder, 0o711);
  const session = await connect(primary.url);
  try {
    await session.query("SELECT pg_backup_start('standby', fast => true)");
    await copyFiles(source, target);
    const { rows } = await session.query<{ labelfile: string }>(
      'SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)',
    );
    await writeOwned(join(target, 'backup_label'), rows[0]?.labelfile ?? '', source);
    await writeOwned(join(target, 'standby.signal'), '', source);
  } finally {
    await session.end();
  }
  const password = await readFile(join(primary.dataHome, '..', 'postgres-password'), 'utf8');
  await writeFile(join(place.directory, 'postgres-password'), password, { mode: 0o600 });
  return startServer(place, { ...settings, ...followSettings(primary) });
}

async function copyFiles(source: string, target: string): Promise<void> {
  const archive = `${target}.tar`;
  const exclude = notCopied.map((pattern) => `--exclude=${pattern}`);
  try {
    await promisify(execFile)('tar', ['-C', source, ...exclude, '-cf', archive, '.']);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === filesChanged)) throw error;
  }
  await promisify(execFile)('tar', ['-C', target, '-xpf', archive]);
  await rm(archive);
}

async function writeOwned(path: string, content: string, owner: string): Promise<void> {
  const { uid, gid } = await stat(owner);
  await writeFile(path, content, { mode: 0o600 });
  await chown(path, uid, gid);
}

/** Makes commits wait for a standby, and waits until the standby follows. */
async function makeSynchronous({ url }: EmbeddedPostgres): Promise<void> {
  await query(url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await query(url, 'SELECT pg_reload_conf()');
  await eventually(
    async () => {
      const rows = await query(url, "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'");
      if (rows.length === 0) throw new Error('no synchronous standby follows the primary');
    },
    { timeoutMs: replicationLimitMs },
  );
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const session = await connect(url);
  try {
    return (await session.query<Record<string, unknown>>(statement)).rows;
  } finally {
    await session.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: connectTimeoutMs });
  client.on('error', () => undefined); // tests kill the server
  await client.connect();
  return client;
}
