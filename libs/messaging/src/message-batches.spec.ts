import { PassThrough } from 'node:stream';
import { batchesOf } from './message-batches.js';

interface Sized {
  data: Uint8Array;
}

/** A fetch that the test controls and ends. */
function startFetch() {
  const fetched = new PassThrough({ objectMode: true, highWaterMark: 1_000 });
  const arrive = (...sizes: number[]): void => {
    for (const size of sizes) fetched.write({ data: new Uint8Array(size) });
  };
  return {
    fetched: fetched as AsyncIterable<Sized>,
    arrive,
    end: () => fetched.end(),
    fail: (error: Error) => fetched.destroy(error),
  };
}

const mebibyte = 1024 ** 2;
const sizesOf = (batch: readonly Sized[]): number[] => batch.map(({ data }) => data.length);

async function nextSizes(batches: AsyncGenerator<Sized[], undefined>): Promise<number[] | undefined> {
  const { value } = await batches.next();
  return value && sizesOf(value);
}

async function readSizes(fetched: AsyncIterable<Sized>): Promise<number[][]> {
  const batches: number[][] = [];
  for await (const batch of batchesOf(fetched)) batches.push(sizesOf(batch));
  return batches;
}

describe(batchesOf, () => {
  it('yields all messages of a fetch that ends, in their order', async () => {
    const { fetched, arrive, end } = startFetch();
    arrive(3, 1, 2);
    end();

    expect(await readSizes(fetched)).toEqual([[3, 1, 2]]);
  });

  it('yields batches of at most 100 messages', async () => {
    const { fetched, arrive, end } = startFetch();
    arrive(...Array.from({ length: 250 }, () => 1));
    end();

    expect((await readSizes(fetched)).map(({ length }) => length)).toEqual([100, 100, 50]);
  });

  it('yields batches of at most 2 MiB, except for a single larger message', async () => {
    const { fetched, arrive, end } = startFetch();
    arrive(mebibyte, mebibyte, 1, 3 * mebibyte, 1);
    end();

    expect(await readSizes(fetched)).toEqual([[mebibyte, mebibyte], [1], [3 * mebibyte], [1]]);
  });

  it('yields a full batch and a late one while the fetch goes on', async () => {
    const { fetched, arrive, end } = startFetch();
    const batches = batchesOf(fetched);
    arrive(...Array.from({ length: 101 }, () => 1));

    expect((await batches.next()).value).toHaveLength(100);
    expect((await batches.next()).value).toHaveLength(1);

    end();
    expect((await batches.next()).done).toBe(true);
  });

  it('collects messages while the caller handles a batch', async () => {
    const { fetched, arrive, end } = startFetch();
    const batches = batchesOf(fetched);
    arrive(1);
    await batches.next();

    arrive(2, 3);
    end();

    expect(await nextSizes(batches)).toEqual([2, 3]);
  });

  it('yields the messages of a fetch that fails later', async () => {
    const { fetched, arrive, fail } = startFetch();
    const batches = batchesOf(fetched);
    arrive(1);
    expect(await nextSizes(batches)).toEqual([1]);

    fail(new Error('no heartbeats'));

    expect((await batches.next()).done).toBe(true);
  });

  it('throws the error of a fetch without messages', async () => {
    const { fetched, fail } = startFetch();
    const reading = readSizes(fetched);

    fail(new Error('no heartbeats'));

    await expect(reading).rejects.toThrow('no heartbeats');
  });
});
