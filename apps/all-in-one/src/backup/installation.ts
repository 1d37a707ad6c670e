import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  DirectoryLockedError,
  findRunningPostgres,
  lockDirectory,
  startEmbeddedPostgres,
  unlessMissing,
} from '@stream-events/embedded';
import type { BackedUpSchema } from '@stream-events/database/backup';
import type { DatabaseService } from '@stream-events/database/roles';
import { eventsBackup } from '@stream-events/events/backup';
import { gatewayBackup } from '@stream-events/gateway/backup';
import { platformConnectorBackup } from '@stream-events/platform-connector/backup';
import { closeAll } from '@stream-events/service';
import { streamerMonitorBackup } from '@stream-events/streamer-monitor/backup';
import { serviceUrlsOf, usesOwnDatabase, type AllInOneConfig } from '../all-in-one.config.js';
import { prepareEmbeddedDatabase, prepareOwnDatabase } from '../databases.js';
import { createDataDirectory, dataDirectory, secretKeyPath } from '../servers.js';

/** The schemas of all services, in the order in which the services start. */
export const backedUpSchemas: Readonly<Record<DatabaseService, BackedUpSchema>> = {
  events: eventsBackup,
  gateway: gatewayBackup,
  'streamer-monitor': streamerMonitorBackup,
  'platform-connector': platformConnectorBackup,
};

/** The database of the installation while a backup or a restore uses it. */
export interface OpenDatabase {
  urlFor(service: DatabaseService): string;
  /** Call this when the restore is complete: see `Databases`. */
  finishMigrations(): Promise<void>;
  close(): Promise<void>;
}

type Say = (line: string) => void;

// A failed restore starts over, so commits need not wait for the disk. New tables need no WAL, because PostgreSQL writes them to disk at
// the commit.
const restoreSettings = {
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
};

/**
 * Opens the database to back up: the operator's own database, or the embedded database. Starts the embedded database unless `npm start` is
 * running it.
 */
export async function openForBackup(config: AllInOneConfig, say: Say): Promise<OpenDatabase> {
  const nothing = (): Promise<void> => Promise.resolve();
  if (usesOwnDatabase(config)) {
    const urls = serviceUrlsOf(config);
    const urlFor = (service: DatabaseService): string => urls?.[service] ?? config.DATABASE_URL ?? '';
    return { urlFor, finishMigrations: nothing, close: nothing };
  }
  const directory = dataDirectory(config);
  const found = await unlessMissing(stat(directory));
  if (!found)
    throw new Error(
      `there is no installation in ${directory}. Set DATA_DIR and PLATFORM to the values that npm start uses`,
    );
  const running = await findRunningPostgres(directory);
  if (running !== undefined) return { urlFor: () => running, finishMigrations: nothing, close: nothing };
  const { postgres, close } = await startLocked(directory, say, {});
  return { urlFor: () => postgres.url, finishMigrations: nothing, close };
}

/** Prepares the database for a restore: starts its server and creates its roles. */
export async function openForRestore(config: AllInOneConfig, say: Say): Promise<OpenDatabase> {
  if (usesOwnDatabase(config)) {
    const databases = await prepareOwnDatabase(config, say);
    return { ...databases, close: () => Promise.resolve() };
  }
  const directory = await createDataDirectory(config);
  const { postgres, close } = await startLocked(directory, say, restoreSettings);
  try {
    return { ...(await prepareEmbeddedDatabase(postgres.url, directory)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startLocked(directory: string, say: Say, settings: Record<string, string>) {
  const lock = await lockDirectory(directory);
  try {
    const postgres = await startEmbeddedPostgres({ directory, log: say, settings });
    return { postgres, close: () => closeAll([() => postgres.stop(), () => lock.release()]) };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Reads `SECRET_KEY`. Never generates a key, because a new key cannot decrypt a backup. */
export async function readSecretKeys(config: AllInOneConfig): Promise<string[]> {
  if (config.SECRET_KEY) return config.SECRET_KEY;
  const path = secretKeyPath(dataDirectory(config));
  try {
    return (await readFile(path, 'utf8')).trim().split(',');
  } catch (cause) {
    throw new Error(
      `there is no SECRET_KEY, and a backup does not contain it. Copy the file secret-key of the original installation to ${path}. If the key is lost, add --without-key`,
      { cause },
    );
  }
}

/** Returns the absolute path of a file that the user named, because npm runs scripts in the folder of the project. */
export function fromWorkingDirectory(file: string): string {
  return resolve(process.env.INIT_CWD ?? '.', file);
}

/** Returns the text about a failure for the operator. */
export function explain(error: unknown): string {
  if (error instanceof DirectoryLockedError)
    return 'npm start is running on this data, or is starting or stopping. Stop it with Ctrl-C first.';
  return error instanceof Error ? error.message : String(error);
}
