import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { divideSpace, sizeOf } from './stream-sizes.js';

describe(divideSpace.name, () => {
  it.each([
    [0, 1, 1],
    [3, 1, 1],
    [12, 5, 1],
    [18, 8, 1],
    [20, 8, 2],
    [1_000, 8, 2],
  ])('of %s GiB gives %s GiB to EVENTS and %s GiB to INGEST', (space, events, ingest) => {
    expect(divideSpace(space * 1024 ** 3)).toEqual({
      EVENTS_MAX_GB: String(events),
      INGEST_MAX_GB: String(ingest),
    });
  });
});

describe(sizeOf.name, () => {
  it('adds the sizes of all files, also in folders, and is 0 for a missing folder', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'stream-sizes-'));
    await mkdir(join(directory, 'nats', 'jetstream'), { recursive: true });
    await writeFile(join(directory, 'nats', 'nats.conf'), 'x'.repeat(10));
    await writeFile(join(directory, 'nats', 'jetstream', '1.blk'), 'x'.repeat(1_000));

    expect(await sizeOf(join(directory, 'nats'))).toBe(1_010);
    expect(await sizeOf(join(directory, 'absent'))).toBe(0);
    await rm(directory, { recursive: true });
  });
});
