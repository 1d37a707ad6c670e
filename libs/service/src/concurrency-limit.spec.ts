import { ConcurrencyLimit } from './concurrency-limit.js';

/** Starts work that the test ends or fails. */
function startWork(limit: ConcurrencyLimit) {
  let [end, fail] = [(_result: string): void => undefined, (_error: Error): void => undefined];
  const ended = new Promise<string>((resolve, reject) => {
    [end, fail] = [resolve, reject];
  });
  let isRunning = false;
  const result = limit.run(() => {
    isRunning = true;
    return ended;
  });
  return { result, end, fail, isRunning: () => isRunning };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe(ConcurrencyLimit.name, () => {
  it('runs work up to the limit, and the rest in order of arrival', async () => {
    const limit = new ConcurrencyLimit({ running: 2, waiting: 2, refusal: 'busy' });
    const work = Array.from({ length: 4 }, () => startWork(limit));
    expect(work.map(({ isRunning }) => isRunning())).toEqual([true, true, false, false]);

    work[1]!.end('second');
    await settle();
    expect(work.map(({ isRunning }) => isRunning())).toEqual([true, true, true, false]);

    work[0]!.fail(new Error('first'));
    await expect(work[0]!.result).rejects.toThrow('first');
    await settle();
    expect(work[3]!.isRunning()).toBe(true);
    await expect(work[1]!.result).resolves.toBe('second');
    work[2]!.end('third');
    work[3]!.end('fourth');
    await settle();
    expect(startWork(limit).isRunning()).toBe(true);
  });

  it('rejects work when too much waits', async () => {
    const limit = new ConcurrencyLimit({ running: 1, waiting: 1, refusal: 'busy' });
    const [running, waiting] = [startWork(limit), startWork(limit)];

    await expect(startWork(limit).result).rejects.toMatchObject({ code: 'unavailable', detail: 'busy' });

    running.end('one');
    waiting.end('two');
    await expect(waiting.result).resolves.toBe('two');
  });
});
