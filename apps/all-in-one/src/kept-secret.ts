import { randomBytes } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { syncDirectory } from '@stream-events/embedded';

/** Reads a secret from a file, or generates the secret and the file. Only the current user can read the file. */
export async function keepSecret(path: string): Promise<string> {
  const draft = `${path}.${process.pid}`;
  // The file gets its name only when it is complete, so a start that is killed here leaves no partial secret.
  await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    await link(draft, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    // `instanceof Error` does not work here: under Jest, Node's errors come from another realm.
    if (typeof error !== 'object' || error === null || !('code' in error) || error.code !== 'EEXIST')
      throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}

/** Replaces a secret. The file gets its name only when it is complete, and only the current user can read it. */
export async function replaceSecret(path: string, secret: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  try {
    await writeFile(draft, secret, { mode: 0o600, flag: 'wx', flush: true });
    await rename(draft, path);
    // The new file must survive a power failure, because the database soon contains values that only the new secret decrypts.
    await syncDirectory(dirname(path));
  } finally {
    await rm(draft, { force: true });
  }
}
