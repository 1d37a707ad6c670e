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
    const lease = new Lease(10, () => Promise.resolve(true));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(lease.lost.aborted).toBe(false);
    lease.end();
  });

  it('is lost when another instance holds it, and before it expires when it cannot be renewed', async () => {
    const stolen = new Lease(10, () => Promise.resolve(false));
    const silent = new Lease(10, () => new Promise(() => undefined));
    const failing = new Lease(10, () => Promise.reject(new Error('no database')));
    await jest.advanceTimersByTimeAsync(2_600);
    expect(stolen.lost.aborted).toBe(true);
    await jest.advanceTimersByTimeAsync(5_300);
    expect([silent.lost.aborted, failing.lost.aborted]).toEqual([false, false]);
    await jest.advanceTimersByTimeAsync(200);
    expect([silent.lost.aborted, failing.lost.aborted]).toEqual([true, true]);
    for (const lease of [stolen, silent, failing]) lease.end();
  });

  it('outlasts its length without a renewal only if its holder asks for that, and is still lost when another instance holds it', async () => {
    let isTaken = false;
    const renew = (): Promise<boolean> =>
      isTaken ? Promise.resolve(false) : Promise.reject(new Error('no database'));
    const failing = new Lease(10, renew, 60_000);
    await jest.advanceTimersByTimeAsync(59_900);
    expect(failing.lost.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(200);
    expect(failing.lost.aborted).toBe(true);

    const taken = new Lease(10, renew, 60_000);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(taken.lost.aborted).toBe(false);
    isTaken = true;
    await jest.advanceTimersByTimeAsync(2_600);
    expect(taken.lost.aborted).toBe(true);
    for (const lease of [failing, taken]) lease.end();
  });

  it('counts from the request for a renewal, not from its reply', async () => {
    let answer: (isOurs: boolean) => void = () => undefined;
    const lease = new Lease(10, () => new Promise<boolean>((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(2_500);
    const first = answer;
    await jest.advanceTimersByTimeAsync(2_000);
    first(true);
    await jest.advanceTimersByTimeAsync(5_900);
    expect(lease.lost.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(200);
    expect(lease.lost.aborted).toBe(true);
    lease.end();
  });

  it('leaves no timer behind when it ends while it is being renewed', async () => {
    let answer: (isOurs: boolean) => void = () => undefined;
    const lease = new Lease(10, () => new Promise<boolean>((resolve) => (answer = resolve)));
    await jest.advanceTimersByTimeAsync(2_500);
    lease.end();
    answer(true);
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
