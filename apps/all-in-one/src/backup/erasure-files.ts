import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseErasureList, userHashKeysTable, type ErasureList } from '@stream-events/events/backup';
import { backedUpSchemas } from '../databases.js';
import { replaceSecret } from '../kept-secret.js';
import type { CheckedArchive } from '@stream-events/database/backup';

/**
 * Returns the path of the erasures that a restore with `--replace` saves before it drops the data. The file stays until a restore
 * completes, so an interrupted restore loses no erasures.
 */
export function replacedErasuresPath(directory: string): string {
  return join(directory, 'erasures-before-restore.json');
}

/** Writes a list of erasures that only the current user can read. */
export async function writeErasureList(path: string, list: ErasureList): Promise<void> {
  await replaceSecret(path, `${JSON.stringify(list, undefined, 2)}\n`);
}

/** @throws Error when the file does not exist or contains no list of erasures */
export async function readErasureFile(path: string): Promise<ErasureList> {
  try {
    return parseErasureList(await readFile(path, 'utf8'));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`cannot read the list of erasures in ${path}: ${reason}`, { cause });
  }
}

export async function removeErasureFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Whether the backup has the hash key that recognizes the users in the list. */
export function recognizes({ encryptedRows }: CheckedArchive, { hashKey }: ErasureList): boolean {
  const known = encryptedRows.get(`${backedUpSchemas.events.name}/${userHashKeysTable}`) ?? [];
  return hashKey === null || known.includes(hashKey);
}
