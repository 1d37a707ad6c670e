import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const gibibyte = 1024 ** 3;

/**
 * Chooses the sizes of the JetStream streams of an installation: 8 GiB for EVENTS and 2 GiB for INGEST. With less than 20 GiB of disk space,
 * both together get half of that space, but each gets at least 1 GiB, because NATS reserves the sizes. The space that the streams already
 * use counts as free. Otherwise, a start could make EVENTS smaller, and NATS would delete its oldest events.
 *
 * @param directory the data directory of the installation
 */
export async function chooseStreamSizes(directory: string): Promise<NodeJS.ProcessEnv> {
  const { bavail, bsize } = await statfs(directory);
  return divideSpace(bavail * bsize + (await sizeOf(join(directory, 'nats'))));
}

/** Divides disk space between the streams. */
export function divideSpace(bytes: number): NodeJS.ProcessEnv {
  const half = Math.floor(bytes / gibibyte / 2);
  const ingest = half < 10 ? 1 : 2;
  const events = Math.min(8, Math.max(1, half - ingest));
  return { EVENTS_MAX_GB: String(events), INGEST_MAX_GB: String(ingest) };
}

/** Returns the size of all files in a folder, in bytes; 0 when the folder does not exist. Ignores files that disappear meanwhile. */
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
