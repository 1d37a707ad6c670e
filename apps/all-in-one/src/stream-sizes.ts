import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const gibibyte = 1024 ** 3;

/**
 * Chooses stream sizes: 8 GiB for EVENTS and 2 GiB for INGEST. With less than 20 GiB of free disk space, the streams together get half of
 * the free space, because NATS reserves space: 1 GiB for INGEST, and the rest, but at least 1 GiB, for EVENTS. Space that the streams
 * already use counts as free. Otherwise a restart could shrink EVENTS, and NATS would delete the oldest events.
 *
 * @param directory the data folder of the installation
 */
export async function chooseStreamSizes(directory: string): Promise<NodeJS.ProcessEnv> {
  const { bavail, bsize } = await statfs(directory);
  return divideSpace(bavail * bsize + (await sizeOf(join(directory, 'nats'))));
}

export function divideSpace(bytes: number): NodeJS.ProcessEnv {
  const half = Math.floor(bytes / gibibyte / 2);
  const ingest = half < 10 ? 1 : 2;
  const events = Math.min(8, Math.max(1, half - ingest));
  return { EVENTS_MAX_GB: String(events), INGEST_MAX_GB: String(ingest) };
}

/** Returns the total size of a folder's files in bytes; 0 if the folder does not exist. Ignores files that are deleted during the count. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const entry of entries)
    if (entry.isFile())
      bytes += await stat(join(entry.parentPath, entry.name)).then(
        ({ size }) => size,
        () => 0,
      );
  return bytes;
}
