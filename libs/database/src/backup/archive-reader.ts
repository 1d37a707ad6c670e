import { createReadStream } from 'node:fs';
import { dirname } from 'node:path/posix';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { ArchiveError } from './archive.js';

/** A file of the archive, or all rows of a table, with its parts joined. */
export interface ArchiveEntry {
  /** The name of the file, or the folder of the table. */
  name: string;
  content: AsyncIterable<Buffer>;
}

interface ArchivedFile {
  name: string;
  content: AsyncIterable<Buffer>;
}

/**
 * Reads an archive from start to end, no faster than the caller consumes it.
 *
 * @throws ArchiveError when the file is truncated or damaged
 */
export async function* readArchive(path: string): AsyncGenerator<ArchiveEntry> {
  const files = readFiles(path);
  try {
    let next = await files.next();
    while (!next.done) {
      const name = entryNameOf(next.value);
      const content = async function* (): AsyncGenerator<Buffer> {
        while (!next.done && entryNameOf(next.value) === name) {
          yield* explaining(path, next.value.content);
          next = await files.next();
        }
      };
      const rows = content();
      yield { name, content: rows };
      // Skip what the caller did not read.
      for await (const _chunk of rows);
    }
  } finally {
    // Close the file when the caller stops early.
    await files.return(undefined);
  }
}

function entryNameOf({ name }: ArchivedFile): string {
  return name.endsWith('.copy') ? dirname(name) : name;
}

async function* readFiles(path: string): AsyncGenerator<ArchivedFile> {
  const files = extract();
  const reading = pipeline(createReadStream(path), createGunzip(), files);
  // Without this, a failure would be an unhandled rejection. The loop below, or the `await` after it, throws the error.
  reading.catch(() => undefined);
  yield* explaining(
    path,
    (async function* () {
      for await (const file of files) yield { name: file.header.name, content: file };
      await reading;
    })(),
  );
}

/** Passes the parts on, and turns errors into an ArchiveError that names the file. */
async function* explaining<T>(path: string, parts: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* parts;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ArchiveError(`the backup ${path} cannot be read: ${reason}`, { cause });
  }
}

/** Reads the whole content of a small file. */
export async function readText(content: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
