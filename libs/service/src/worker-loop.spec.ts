import { jest } from '@jest/globals';
import { eventually } from '@stream-events/testing';
import { WorkerLoop, type WorkerLoopOptions } from './worker-loop.js';

const loopWith = (
  work: WorkerLoopOptions['work'],
  onFailure: WorkerLoopOptions['onFailure'] = () => undefined,
) => new WorkerLoop({ work, idleMs: 60_000, maxBackoffMs: 2_000, onFailure });

describe(WorkerLoop.name, () => {
  it('repeats the work until the work finds nothing to do, and continues after a failure', async () => {
    const failures: unknown[] = [];
    let count = 0;
    const loop = loopWith(
      () => {
        count += 1;
        return count === 2 ? Promise.reject(new Error('away')) : Promise.resolve(count < 4);
      },
      (error) => failures.push(error),
    );
    loop.start();

    await eventually(() => expect(count).toBe(4));
    await loop.stop();

    expect(failures).toEqual([new Error('away')]);
    expect(count).toBe(4);
  });

  it('stops after the current piece of work', async () => {
    let isDone = false;
    const loop = loopWith(async (stopping) => {
      await new Promise((resolve) => stopping.addEventListener('abort', resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      isDone = true;
      return true;
    });
    loop.start();

    await loop.stop();

    expect(isDone).toBe(true);
  });

  it('stops without the work after 5 s', async () => {
    jest.useFakeTimers();
    const loop = loopWith(() => new Promise(() => undefined));
    loop.start();

    let isStopped = false;
    void loop.stop().then(() => (isStopped = true));
    await jest.advanceTimersByTimeAsync(4_999);
    expect(isStopped).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(isStopped).toBe(true);
    jest.useRealTimers();
  });

  it('does not report the failure of work that a stop has interrupted', async () => {
    const failures: unknown[] = [];
    const loop = loopWith(
      (stopping) =>
        new Promise((_, reject) =>
          stopping.addEventListener('abort', () => reject(new Error('interrupted'))),
        ),
      (error) => failures.push(error),
    );
    loop.start();

    await loop.stop();

    expect(failures).toEqual([]);
  });
});
