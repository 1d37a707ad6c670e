import { jest } from '@jest/globals';
import { Lease } from './lease.js';

describe(Lease.name, () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is kept while it is renewed', async () => {
    const lease = new Lease(() => Promise.resolve(true));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(lease.lost.aborted).toBe(false);
    lease.end();
  });

  it('is lost when it is another’s, and before it ends when nobody says whose it is', async () => {
    const stolen = new Lease(() => Promise.resolve(false));
    const silent = new Lease(() => new Promise(() => undefined));
    const failing = new Lease(() => Promise.reject(new Error('no database')));
    await jest.advanceTimersByTimeAsync(2_600);
    expect(stolen.lost.aborted).toBe(true);
    await jest.advanceTimersByTimeAsync(5_300);
    expect([silent.lost.aborted, failing.lost.aborted]).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(200);
    expect([silent.lost.aborted, failing.lost.aborted]).toEqual([true, true]);
    for (const lease of [stolen, silent, failing]) lease.end();
  });

  it('leaves nothing behind when it ends while it is being renewed', async () => {
    let answer: (isOurs: boolean) => void = () => undefined;
    const lease = new Lease(() => new Promise<boolean>((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(2_500);
    lease.end();
    answer(true);
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
