import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';

/** A random secret that is made once and kept in a file that only its owner can read. */
export async function keepSecret(path: string): Promise<string> {
  const draft = `${path}.${process.pid}`;
  // Written whole before it gets its name: a start that is killed in the middle leaves no half secret behind.
  await writeFile(draft, randomBytes(32).toString('hex'), { mode: 0o600, flush: true });
  try {
    await link(draft, path);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(path, 'utf8')).trim();
}
