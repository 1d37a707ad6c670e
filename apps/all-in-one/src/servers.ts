import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { natsUsers } from '@stream-events/contracts';
import type { DatabaseService } from '@stream-events/database/roles';
import { isRoot, lockDirectory, startEmbeddedNats, startEmbeddedPostgres } from '@stream-events/embedded';
import { closeAll } from '@stream-events/service';
import { usesOwnDatabase, type AllInOneConfig } from './all-in-one.config.js';
import { prepareEmbeddedDatabase, prepareOwnDatabase, type Databases } from './databases.js';
import { keepSecret } from './kept-secret.js';
import type { Simulator } from './simulated-platform.js';

/** PostgreSQL and NATS, embedded or external, with their secrets. */
export interface Servers {
  databases: Databases;
  /** NATS URL for the service: with the service's own NATS user on the embedded server, or `NATS_URL` for every service. */
  natsUrlFor(service: DatabaseService): string;
  secretKey: string;
  /** NATS URL for your own services, which read the EVENTS stream as user `subscriber`. Undefined if NATS_URL is set. */
  subscriberUrl: string | undefined;
  /** The simulator, if it runs already. */
  simulator?: Simulator | undefined;
  /** Resolves with the server's name when a server stops unexpectedly. */
  failed: Promise<string>;
  stop(): Promise<void>;
}

/** Servers that `npm run dev` keeps while it restarts the services, as JSON values. */
export interface KeptServers {
  services: Record<DatabaseService, { databaseUrl: string; natsUrl: string }>;
  secretKey: string;
  subscriberUrl: string | undefined;
  simulator: Simulator | undefined;
}

/** Describes running servers for the process of the services. */
export function describeServers(servers: Servers, simulator: Simulator | undefined): KeptServers {
  const { databases, secretKey, subscriberUrl } = servers;
  const describe = (service: DatabaseService): { databaseUrl: string; natsUrl: string } => ({
    databaseUrl: databases.urlFor(service),
    natsUrl: servers.natsUrlFor(service),
  });
  return {
    services: {
      events: describe('events'),
      gateway: describe('gateway'),
      'platform-connector': describe('platform-connector'),
      'streamer-monitor': describe('streamer-monitor'),
    },
    secretKey,
    subscriberUrl,
    simulator,
  };
}

/** Returns servers that another process started and will stop. */
export function useServers({ services, secretKey, subscriberUrl, simulator }: KeptServers): Servers {
  return {
    databases: { urlFor: (service) => services[service].databaseUrl },
    natsUrlFor: (service) => services[service].natsUrl,
    secretKey,
    subscriberUrl,
    simulator,
    failed: new Promise<never>(() => undefined),
    stop: () => Promise.resolve(),
  };
}

/** Returns the platform's data folder. Each platform has its own folder, so simulated and real events never mix. */
export function dataDirectory(config: AllInOneConfig): string {
  return resolve(config.DATA_DIR, config.PLATFORM);
}

/** Creates the data folder if necessary. Returns its path. */
export async function createDataDirectory(config: AllInOneConfig): Promise<string> {
  const directory = dataDirectory(config);
  // Started by root, PostgreSQL runs as another user, which must be able to enter this folder. All secrets in the folder are 0600 files.
  await mkdir(directory, { recursive: true, mode: isRoot() ? 0o711 : 0o700 });
  return directory;
}

/** The file contains one `SECRET_KEY`, or several keys separated by commas during a rotation. */
export function secretKeyPath(directory: string): string {
  return join(directory, 'secret-key');
}

/**
 * The file with the password of the NATS user `subscriber`. The password survives restarts, because your own services are configured with
 * it.
 */
export function subscriberPasswordPath(config: AllInOneConfig): string {
  return join(dataDirectory(config), 'nats-subscriber-password');
}

/** Starts the servers that have no configured URL. `say` prints progress. Aborting the signal cancels the start. */
export async function startServers(
  config: AllInOneConfig,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Servers> {
  const directory = await createDataDirectory(config);
  const lock = await lockDirectory(directory);
  const stops: (() => Promise<void>)[] = [() => lock.release()];
  const stop = (): Promise<void> => closeAll(stops.splice(0).reverse());
  try {
    const failures: Promise<string>[] = [];
    let subscriberUrl: string | undefined;
    const databases = usesOwnDatabase(config) ? await prepareOwnDatabase(config, say) : await startPostgres();
    signal.throwIfAborted();
    const natsUrlFor = config.NATS_URL ? externalNats(config.NATS_URL) : await startNats();
    const secretKey = config.SECRET_KEY?.join(',') ?? (await keepSecret(secretKeyPath(directory)));
    return {
      databases,
      natsUrlFor,
      secretKey,
      subscriberUrl,
      failed: failures.length > 0 ? Promise.race(failures) : new Promise<never>(() => undefined),
      stop,
    };

    async function startPostgres(): Promise<Databases> {
      say('PostgreSQL: starting the embedded server');
      const postgres = await startEmbeddedPostgres({ directory, log: say, signal });
      stops.push(() => postgres.stop());
      failures.push(postgres.exited.then(() => 'PostgreSQL'));
      return prepareEmbeddedDatabase(postgres.url, directory);
    }

    async function startNats(): Promise<Servers['natsUrlFor']> {
      say('NATS: starting the embedded server');
      const password = await keepSecret(subscriberPasswordPath(config));
      const nats = await startEmbeddedNats({
        directory,
        preferredPort: 4222,
        users: Object.values({ ...natsUsers, subscriber: { ...natsUsers.subscriber, password } }),
        log: say,
        signal,
      });
      subscriberUrl = nats.url;
      stops.push(() => nats.stop());
      failures.push(nats.exited.then(() => 'NATS'));
      return (service) => nats.urlFor(service);
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

function externalNats(urls: readonly string[]): Servers['natsUrlFor'] {
  return () => urls.join(',');
}
