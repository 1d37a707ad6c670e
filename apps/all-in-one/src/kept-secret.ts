import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '@stream-events/embedded';

/** Reads a secret from a file. If the file is missing, generates the secret and a file that only the current user can read. */
export async function keepSecret(path: string): Promise<string> {
  const draft = `${path}.${process.pid}`;
  // Link the file to its final name only after the secret is complete. A process killed before that leaves no partial secret.
  await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    await link(draft, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    // Do not use `instanceof Error`: under Jest, Node's errors come from another realm.
    if (typeof error !== 'object' || error === null || !('code' in error) || error.code !== 'EEXIST')
      throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** Replaces a secret atomically. Only the current user can read the file. */
export async function replaceSecret(path: string, secret: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, secret, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, path);
    // After a change of SECRET_KEY, the database soon contains values that only the new key decrypts, so the new file must survive a power
    // failure.
    await syncDirectory(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}
