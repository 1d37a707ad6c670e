import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArchive, readText } from './archive-reader.js';
import { ArchiveWriter } from './archive-writer.js';
import { ArchiveError, parseManifest } from './archive.js';

// Three chunks complete a part (8 MiB), so the fourth goes into the next part.
const chunkBytes = 3 * 1024 * 1024;

describe('an archive', () => {
  let directory: string;
  let path: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'archive-'));
    path = join(directory, 'backup.tar.gz');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const chunks = Array.from({ length: 4 }, () => randomBytes(chunkBytes));
  async function* rowsOf(buffers: readonly Buffer[]): AsyncGenerator<Buffer> {
    for (const buffer of buffers) yield await Promise.resolve(buffer);
  }
  const sha256 = (buffers: readonly Buffer[]): string =>
    createHash('sha256').update(Buffer.concat(buffers)).digest('hex');
  const write = async (): Promise<ArchiveWriter> => {
    const writer = await ArchiveWriter.create(path);
    await writer.addFile('manifest.json', Buffer.from('{}'));
    return writer;
  };
  const readSums = async (): Promise<Record<string, string>> => {
    const sums: Record<string, string> = {};
    for await (const { name, content } of readArchive(path)) {
      const parts: Buffer[] = [];
      for await (const part of content) parts.push(part);
      sums[name] = sha256(parts);
    }
    return sums;
  };

  it('returns what was written, with the parts of a table as one', async () => {
    const writer = await write();
    const large = await writer.addRows('shop/large', rowsOf(chunks));
    const empty = await writer.addRows('shop/empty', rowsOf([]));
    const small = await writer.addRows('shop/small', rowsOf([Buffer.from('1\n')]));
    await writer.complete();

    expect(large).toEqual({ bytes: chunks.length * chunkBytes, sha256: sha256(chunks) });
    expect(await readSums()).toEqual({
      'manifest.json': sha256([Buffer.from('{}')]),
      'shop/large': large.sha256,
      'shop/empty': empty.sha256,
      'shop/small': small.sha256,
    });
    expect(Object.keys(await readSums())).toEqual([
      'manifest.json',
      'shop/large',
      'shop/empty',
      'shop/small',
    ]);
  });

  it('lets a reader skip tables, and stop early', async () => {
    const writer = await write();
    await writer.addRows('shop/large', rowsOf(chunks));
    await writer.addRows('shop/small', rowsOf([Buffer.from('1\n')]));
    await writer.complete();

    const names: string[] = [];
    for await (const { name } of readArchive(path)) names.push(name);
    expect(names).toEqual(['manifest.json', 'shop/large', 'shop/small']);
    for await (const { name, content } of readArchive(path)) {
      expect(name).toBe('manifest.json');
      expect(await readText(content)).toBe('{}');
      break;
    }
  });

  it('has its name only when it is complete, and only its owner can read it', async () => {
    const writer = await write();
    await writer.addRows('shop/large', rowsOf(chunks));
    expect(await readdir(directory)).toEqual(['backup.tar.gz.partial']);
    expect((await stat(`${path}.partial`)).mode & 0o777).toBe(0o600);
    await writer.complete();

    expect(await readdir(directory)).toEqual(['backup.tar.gz']);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('leaves nothing when it is aborted, and replaces the draft of a backup that was killed', async () => {
    await writeFile(`${path}.partial`, 'of a backup that was killed');
    const writer = await write();
    await writer.addRows('shop/large', rowsOf(chunks));
    await writer.abort();

    expect(await readdir(directory)).toEqual([]);
  });

  it('never replaces a file', async () => {
    const late = await write();
    await writeFile(path, 'another backup');

    await expect(late.complete()).rejects.toThrow('EEXIST');
    await expect(ArchiveWriter.create(path)).rejects.toThrow('already exists');
    expect(await readFile(path, 'utf8')).toBe('another backup');
    await late.abort();
  });

  it('completes on a disk without hard links, also without replacing a file', async () => {
    const refuse = (): Promise<void> =>
      Promise.reject(Object.assign(new Error('operation not permitted'), { code: 'EPERM' }));
    const writer = await ArchiveWriter.create(path, refuse);
    const late = await ArchiveWriter.create(`${directory}/late.tar.gz`, refuse);
    await writer.addFile('manifest.json', Buffer.from('{}'));
    await writer.complete();
    await writeFile(`${directory}/late.tar.gz`, 'another backup');
    await expect(late.complete()).rejects.toThrow('EEXIST');
    await late.abort();

    expect((await readdir(directory)).sort()).toEqual(['backup.tar.gz', 'late.tar.gz']);
    expect(await readFile(`${directory}/late.tar.gz`, 'utf8')).toBe('another backup');
    for await (const { name, content } of readArchive(path)) {
      expect(name).toBe('manifest.json');
      expect(await readText(content)).toBe('{}');
    }
  });

  it('fails when another backup to the same file replaced its draft, which it leaves alone', async () => {
    const [first, second] = [await write(), await write()];

    await expect(first.complete()).rejects.toThrow('Another backup to');
    await first.abort();
    await second.complete();

    expect(await readdir(directory)).toEqual(['backup.tar.gz']);
  });

  it('reports a file that is truncated, damaged, or not an archive', async () => {
    const writer = await write();
    await writer.addRows('shop/large', rowsOf(chunks));
    await writer.complete();
    const bytes = await readFile(path);
    const damaged = Buffer.from(bytes);
    const half = Math.floor(bytes.length / 2);
    damaged.fill(0, half, half + 100);

    for (const content of [
      bytes.subarray(0, -1_000_000),
      bytes.subarray(0, -1),
      damaged,
      Buffer.from('text'),
    ]) {
      await writeFile(path, content);
      await expect(readSums()).rejects.toThrow(ArchiveError);
    }
  });
});

describe(parseManifest.name, () => {
  const manifest = {
    ...{ format: 1, version: '1.0.0', createdAt: '2026-11-24T15:00:00Z', platform: 'simulator' },
    schemas: [
      { name: 'shop', migrations: [], tables: [{ name: 'things', columns: ['id'], partition: null }] },
    ],
  };
  const parse = (change: object): unknown => parseManifest(JSON.stringify({ ...manifest, ...change }));

  it('accepts a manifest of this version', () => {
    expect(parse({})).toEqual(manifest);
  });

  it.each([
    ['the format of another version', { format: 2, version: '9.0.0' }, 'Restore the archive with version 9'],
    ['a name that is not a name', { schemas: [{ ...manifest.schemas[0], name: 'a; b' }] }, 'no version'],
    [
      'a range that is not a range',
      {
        schemas: [
          { name: 'shop', tables: [{ name: 't', columns: [], partition: { of: 't', from: "'", to: "'" } }] },
        ],
      },
      'no version',
    ],
  ])('rejects %s', (_, change, message) => {
    expect(() => parse(change)).toThrow(message);
  });

  it('rejects what is not JSON', () => {
    expect(() => parseManifest('manifest')).toThrow('is not JSON');
  });
});
