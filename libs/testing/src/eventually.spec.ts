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

  it('throws the last error with the elapsed time after the timeout', async () => {
    let attempts = 0;
    // Fake clock: each attempt takes ten seconds. On a busy machine, the real clock could run out during the first attempt.
    jest.spyOn(Date, 'now').mockImplementation(() => 10_000 * attempts);

    const failure = eventually(
      () => {
        attempts += 1;
        throw new Error(`attempt ${attempts}`);
      },
      { timeoutMs: 30_000, intervalMs: 1 },
    );

    await expect(failure).rejects.toThrow(/^Timed out after 30000 ms: attempt 3$/);
  });

  it('throws the error object of a failed assertion, from which Jest shows the difference', async () => {
    const failure = eventually(() => expect(1).toBe(2), { timeoutMs: 10, intervalMs: 5 });

    await expect(failure).rejects.toMatchObject({
      message: expect.stringMatching(/^Timed out after \d+ ms: [^]*toBe/) as unknown,
      stack: expect.stringContaining('Timed out after') as unknown,
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
