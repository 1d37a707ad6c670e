import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import { pack, type Pack } from 'tar-stream';
import { partName } from './archive.js';

// Size at which a part (a file with a table's rows) is complete. A part exceeds this size by less than one chunk from COPY. A tar header
// contains the file size, so the writer must hold a complete part in memory.
const partBytes = 8 * 1024 * 1024;

/**
 * Writes an archive to a draft file, which gets its final name once the archive is complete. Only the current user can read the file.
 * Writes no faster than the disk accepts, so that memory use stays constant.
 */
export class ArchiveWriter {
  private constructor(
    private readonly path: string,
    private readonly archive: Pack,
    /** Resolves when everything is on disk. */
    private readonly file: Promise<void>,
    /** Identifies the draft. */
    private readonly draft: BigIntStats,
    private readonly linkFile: typeof link,
  ) {}

  /**
   * @param linkFile replaces `link` in a test
   * @throws when the file exists already, or its folder does not exist
   */
  static async create(path: string, linkFile = link): Promise<ArchiveWriter> {
    const existing = await open(path, 'r').catch(() => undefined);
    await existing?.close();
    if (existing) throw new Error(`${path} already exists. Choose another name for the backup.`);
    // A killed backup may have left a draft.
    await rm(draftOf(path), { force: true });
    const handle = await open(draftOf(path), 'wx', 0o600);
    const draft = await handle.stat({ bigint: true });
    const archive = pack();
    // The default level would save a fifth of the size but take four times as long.
    const gzip = createGzip({ level: constants.Z_BEST_SPEED });
    const file = pipeline(archive, gzip, handle.createWriteStream({ flush: true }));
    // Without this, a failure would be an unhandled rejection. `addFile` and `complete` report it.
    file.catch(() => undefined);
    return new ArchiveWriter(path, archive, file, draft, linkFile);
  }

  async addFile(name: string, content: Buffer): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => {
        const header = { name, mode: 0o600, size: content.length };
        this.archive.entry(header, content, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      // If writing to the disk failed first, for example because the disk is full, then throw that error: it is the cause.
      await this.file;
      throw error;
    }
  }

  async addRows(folder: string, rows: AsyncIterable<Buffer>): Promise<{ bytes: number; sha256: string }> {
    const hash = createHash('sha256');
    let bytes = 0;
    let parts = 0;
    let waiting: Buffer[] = [];
    let waitingBytes = 0;
    const write = async (): Promise<void> => {
      const part = Buffer.concat(waiting);
      hash.update(part);
      bytes += part.length;
      parts += 1;
      [waiting, waitingBytes] = [[], 0];
      await this.addFile(partName(folder, parts), part);
    };
    for await (const chunk of rows) {
      waiting.push(chunk);
      waitingBytes += chunk.length;
      if (waitingBytes >= partBytes) await write();
    }
    if (waitingBytes > 0 || parts === 0) await write();
    return { bytes, sha256: hash.digest('hex') };
  }

  /**
   * Completes the archive and gives the file its final name.
   *
   * @throws when a file of that name exists, or another backup has replaced the draft
   */
  async complete(): Promise<void> {
    this.archive.finalize();
    await this.file;
    if (!(await this.ownsDraft()))
      throw new Error(`Another backup to ${this.path} started before this backup was complete.`);
    try {
      // Unlike a rename, a link cannot replace a file that another backup has just written.
      await this.linkFile(draftOf(this.path), this.path);
    } catch (error) {
      if (isExisting(error)) throw error;
      return this.rename();
    }
    await rm(draftOf(this.path));
  }

  /** Used when the link fails because the disk has no hard links, such as a USB disk with exFAT. */
  private async rename(): Promise<void> {
    await (await open(this.path, 'wx', 0o600)).close();
    try {
      await rename(draftOf(this.path), this.path);
    } catch (error) {
      await rm(this.path);
      throw error;
    }
  }

  private async ownsDraft(): Promise<boolean> {
    const found = await stat(draftOf(this.path), { bigint: true }).catch(() => undefined);
    return found?.ino === this.draft.ino && found.dev === this.draft.dev;
  }

  async abort(): Promise<void> {
    this.archive.destroy();
    // Wait until writing has ended, and ignore its error: the caller already throws the error that made the backup fail.
    await this.file.catch(() => undefined);
    if (await this.ownsDraft()) await rm(draftOf(this.path), { force: true });
  }
}

function isExisting(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIST'; // Safe cast: Node rejects with such errors.
}

function draftOf(path: string): string {
  return `${path}.partial`;
}
