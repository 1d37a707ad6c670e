import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  DirectoryLockedError,
  findRunningPostgres,
  lockDirectory,
  startEmbeddedPostgres,
  unlessMissing,
} from '@stream-events/embedded';
import type { DatabaseService } from '@stream-events/database/roles';
import { closeAll } from '@stream-events/service';
import { serviceUrlsOf, usesOwnDatabase, type AllInOneConfig } from '../all-in-one.config.js';
import { prepareEmbeddedDatabase, prepareOwnDatabase } from '../databases.js';
import { createDataDirectory, dataDirectory, secretKeyPath } from '../servers.js';

/** Database access for the duration of a backup or restore. */
export interface OpenDatabase {
  urlFor(service: DatabaseService): string;
  close(): Promise<void>;
}

type Say = (line: string) => void;

// A failed restore starts over, so commits need not wait for the disk. At wal_level minimal, PostgreSQL writes new tables to disk at
// commit, without WAL.
const restoreSettings = {
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '4GB',
};

/** Opens the operator's own database or the embedded one. Starts the embedded server unless `npm start` runs it already. */
export async function openForBackup(config: AllInOneConfig, say: Say): Promise<OpenDatabase> {
  if (usesOwnDatabase(config)) {
    const urls = serviceUrlsOf(config);
    const urlFor = (service: DatabaseService): string => urls?.[service] ?? config.DATABASE_URL ?? '';
    return { urlFor, close: () => Promise.resolve() };
  }
  const directory = dataDirectory(config);
  const found = await unlessMissing(stat(directory));
  if (!found)
    throw new Error(
      `there is no installation in ${directory}. Set DATA_DIR and PLATFORM to the values that npm start uses`,
    );
  const running = await findRunningPostgres(directory);
  if (running !== undefined) return { urlFor: () => running, close: () => Promise.resolve() };
  const { postgres, close } = await startLocked(directory, say, {});
  return { urlFor: () => postgres.url, close };
}

/** Starts the database server and creates the roles for a restore. */
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

/** Reads `SECRET_KEY`. Never generates a key, because a new one cannot decrypt the backup. */
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

/** Resolves a file that the user named. npm runs scripts in the project folder and passes the user's folder in INIT_CWD. */
export function fromWorkingDirectory(file: string): string {
  return resolve(process.env.INIT_CWD ?? '.', file);
}

export function explain(error: unknown): string {
  if (error instanceof DirectoryLockedError)
    return 'npm start is running on this data, or is starting or stopping. Stop it with Ctrl-C first.';
  return error instanceof Error ? error.message : String(error);
}
