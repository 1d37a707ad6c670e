import { jest } from '@jest/globals';
import { eventually } from './eventually.js';

afterEach(() => jest.restoreAllMocks());

describe(eventually.name, () => {
  it('returns the value of the first attempt that does not throw', async () => {
    let attempts = 0;

    const value = await eventually(
      () => {
        attempts += 1;
        if (attempts < 3) throw new Error('not yet');
        return attempts;
      },
      { intervalMs: 1 },
    );

    expect(value).toBe(3);
  });

  it('throws the last error with the elapsed time when the time is over', async () => {
    let attempts = 0;
    // A clock by which each attempt takes ten seconds: on a busy machine the first one could take all of the time.
    jest.spyOn(Date, 'now').mockImplementation(() => 10_000 * attempts);

    const failure = eventually(
      () => {
        attempts += 1;
        throw new Error(`attempt ${attempts}`);
      },
      { timeoutMs: 30_000, intervalMs: 1 },
    );

    await expect(failure).rejects.toThrow(/^Not so after 30000 ms: attempt 3$/);
  });

  it('throws the very error of a failed assertion, with what Jest needs to show the difference', async () => {
    const failure = eventually(() => expect(1).toBe(2), { timeoutMs: 10, intervalMs: 5 });

    await expect(failure).rejects.toMatchObject({
      message: expect.stringMatching(/^Not so after \d+ ms: [^]*toBe/) as unknown,
      stack: expect.stringContaining('Not so after') as unknown,
      matcherResult: { expected: 2, actual: 1 },
    });
  });

  it('gives up on a check that never settles', async () => {
    const failure = eventually(() => new Promise<never>(() => undefined), { timeoutMs: 20 });

    await expect(failure).rejects.toThrow('the check did not settle');
  });

  it('waits for an asynchronous assertion', async () => {
    const seen: number[] = [];

    await eventually(
      async () => {
        seen.push(seen.length);
        await Promise.resolve();
        expect(seen).toHaveLength(4);
      },
      { intervalMs: 1 },
    );

    expect(seen).toEqual([0, 1, 2, 3]);
  });
});
