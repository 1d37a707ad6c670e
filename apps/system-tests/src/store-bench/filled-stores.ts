import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { say } from '../measure/progress.js';
import { parentDirectory, runSql, startServers, type Servers } from '../system/servers.js';
import { startSystem, type System } from '../system/system.js';
import { fillStore } from './fill-store.js';
import { choosePopulation, type Population } from './population.js';

/** The main store, and two smaller stores that differ only in their number of partitions. */
const storeNames = ['filled', 'months_2', 'months_60'] as const;
export type StoreName = (typeof storeNames)[number];

export interface BenchBed {
  stores: FilledStores;
  isQuick: boolean;
}

/** Sizes of the stores, and the checkout whose services create them. */
export interface StoresPlan {
  events: number;
  months: number;
  /** Folder that keeps the stores. Existing stores in it are used again. Default: a new folder, deleted at the end. */
  directory: string | undefined;
  /** A built checkout. Default: this one. */
  checkout: string | undefined;
}

/** Describes the stores in a kept folder. Saved in that folder. */
interface Manifest extends Pick<StoresPlan, 'events' | 'months'> {
  filledAt: number;
}

// No fsync: after a crash of the machine, delete the folder and fill the stores again.
const fillSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  shared_buffers: '1GB',
  maintenance_work_mem: '1GB',
  work_mem: '256MB',
  // No parallel workers: two connections already fill partitions in parallel.
  max_parallel_maintenance_workers: '0',
  autovacuum: 'off',
};

const smallShare = 0.1;

/** PostgreSQL with filled stores, and an empty NATS. */
export class FilledStores {
  /** Databases to drop at the end: copies of kept stores, and empty ones. */
  private readonly temporary = new Set<string>();

  private constructor(
    readonly servers: Servers,
    private readonly plan: StoresPlan,
    private readonly directory: string,
    private readonly manifest: Manifest,
  ) {}

  /** Starts the servers. Fills the stores first if the folder does not contain them. */
  static async open(plan: StoresPlan): Promise<FilledStores> {
    const directory = plan.directory ?? (await mkdtemp(join(parentDirectory, 'stream-events-store-')));
    await mkdir(directory, { recursive: true });
    const manifest = (await readManifest(directory)) ?? (await fill(resolve(directory), plan));
    const { events, months } = manifest;
    if (events !== plan.events || months !== plan.months)
      throw new Error(
        `${directory} has stores with ${events} events in ${months} months. Give these numbers, or another folder.`,
      );
    return new FilledStores(await startServers({ postgresDirectory: directory }), plan, directory, manifest);
  }

  populationOf(name: StoreName): Population {
    return choosePopulationOf(name, this.manifest);
  }

  /** Runs `work` on one gateway and one events service. `empty` is a new store. */
  async withSystem<T>(
    name: StoreName | 'empty',
    work: (system: System, databaseUrl: string) => Promise<T>,
  ): Promise<T> {
    const url = name === 'empty' ? await this.createEmpty() : await this.databaseOf(name);
    const size = { gateways: 1, events: 1, checkout: this.plan.checkout };
    const system = await startSystem(this.servers, url, size);
    try {
      return await work(system, url);
    } finally {
      await system.stop();
    }
  }

  /** Starts another events service on a store. */
  startEventsService(databaseUrl: string, environment: Readonly<Record<string, string>>): Promise<System> {
    return startSystem(this.servers, databaseUrl, {
      gateways: 0,
      events: 1,
      environment,
      checkout: this.plan.checkout,
    });
  }

  /** Deletes the stores. In a kept folder, deletes only the copies. */
  async stop(): Promise<void> {
    const isKept = this.plan.directory !== undefined;
    if (isKept) for (const name of this.temporary) await this.drop(name);
    const { dataHome } = this.servers.postgres;
    await this.servers.stop();
    if (isKept) return;
    await rm(this.directory, { recursive: true, force: true });
    await rm(dataHome, { recursive: true, force: true });
  }

  /** Measurements change a store, so a kept store is copied once per run. */
  private async databaseOf(name: StoreName): Promise<string> {
    if (this.plan.directory === undefined) return this.urlOf(name);
    const copy = `measured_${name}`;
    if (!this.temporary.has(copy)) {
      say(`copying the store ${name}`);
      await this.drop(copy);
      const create = `CREATE DATABASE ${copy} TEMPLATE ${name} STRATEGY file_copy`;
      await runSql(this.servers.postgres.url, create, 'CHECKPOINT');
      this.temporary.add(copy);
    }
    return this.urlOf(copy);
  }

  private async createEmpty(): Promise<string> {
    const name = `empty_${this.temporary.size}`;
    this.temporary.add(name);
    await this.drop(name);
    return this.servers.createDatabase(name);
  }

  private urlOf(database: string): string {
    const url = new URL(this.servers.postgres.url);
    url.pathname = `/${database}`;
    return url.href;
  }

  private async drop(name: string): Promise<void> {
    await runSql(this.servers.postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  }
}

async function readManifest(directory: string): Promise<Manifest | undefined> {
  // No manifest: the folder has no stores yet.
  const text = await readFile(manifestPath(directory), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Manifest); // Safe cast: `fill` wrote it
}

async function fill(directory: string, { events, months, checkout }: StoresPlan): Promise<Manifest> {
  const manifest = { events, months, filledAt: Date.now() };
  const servers = await startServers({ postgresDirectory: directory, postgresSettings: fillSettings });
  try {
    for (const name of storeNames) {
      const startedAt = performance.now();
      await runSql(servers.postgres.url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      const url = await servers.createDatabase(name);
      // Starting the service creates the schema.
      const system = await startSystem(servers, url, { gateways: 0, events: 1, checkout });
      await system.stop();
      // Delete the encrypted values. Each run has its own SECRET_KEY, and a service does not start without the key of a stored value.
      await runSql(url, 'DELETE FROM events.user_hash_keys');
      const population = choosePopulationOf(name, manifest);
      await fillStore(url, population, say);
      const seconds = Math.round((performance.now() - startedAt) / 1_000);
      say(`filled ${name} with ${population.events} events in ${seconds} s`);
    }
  } finally {
    await servers.stop();
  }
  // Flush the gigabytes in the operating system's cache, so that the disk is idle during the measurements.
  await promisify(execFile)('sync');
  await writeFile(manifestPath(directory), JSON.stringify(manifest, undefined, 2));
  return manifest;
}

function choosePopulationOf(name: StoreName, { events, months, filledAt }: Manifest): Population {
  if (name === 'filled') return choosePopulation(events, months, filledAt);
  return choosePopulation(Math.round(events * smallShare), name === 'months_2' ? 2 : 60, filledAt);
}

function manifestPath(directory: string): string {
  return join(directory, 'store.json');
}
