import { jest } from '@jest/globals';
import { ApiError } from './api-error.js';
import { Pictures } from './pictures.js';

const limits = { kept: 2, loading: 1, delayMs: 0, restMs: 60_000 };
const failure = (status: number) => (): Promise<Blob> =>
  Promise.reject(new ApiError(status, undefined, undefined));

describe(Pictures.name, () => {
  const setup = (read: () => Promise<Blob> = () => Promise.resolve(new Blob(['x']))) => {
    const asked: string[] = [];
    const sut = new Pictures((kind, id) => {
      asked.push(`${kind}/${id}`);
      return read();
    }, limits);
    const load = (id: string): Promise<void> =>
      new Promise((resolve) => void sut.want('users', id, () => resolve()));
    return { sut, asked, load };
  };

  it('reads a picture once, and tells when it is there', async () => {
    const { sut, asked, load } = setup();
    expect(sut.find('users', '1')).toBeUndefined();
    await Promise.all([load('1'), load('1')]);
    expect(sut.find('users', '1')).toMatch(/^blob:/);
    sut.want('users', '1', () => undefined);
    expect(asked).toEqual(['users/1']);
  });

  it('keeps the pictures that were seen last', async () => {
    const { sut, load } = setup();
    await load('1');
    await load('2');
    sut.want('users', '1', () => undefined);
    await load('3');
    expect(['1', '2', '3'].map((id) => sut.find('users', id) !== undefined)).toEqual([true, false, true]);
  });

  it('reads the most recently requested picture first, and skips one that is no longer wanted', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const { sut, asked, load } = setup(() => held.then(() => new Blob(['x'])));
    const loads = [load('1'), load('2')];
    sut.want('users', '3', () => undefined)();
    loads.push(load('4'));
    // Timers with the same delay fire in creation order, so the pictures' timers fire before this timer.
    await new Promise((resolve) => setTimeout(resolve, limits.delayMs));
    release();
    await Promise.all(loads);
    expect(asked).toEqual(['users/1', 'users/4', 'users/2']);
  });

  it('remembers that there is no picture', async () => {
    const { sut, asked, load } = setup(failure(404));
    await load('1');
    sut.want('users', '1', () => undefined);
    expect([sut.find('users', '1'), asked]).toEqual([undefined, ['users/1']]);
  });

  it('rests after a failure, then loads the pictures that are still wanted', async () => {
    jest.useFakeTimers();
    try {
      let isAway = true;
      const { sut, asked } = setup(() => (isAway ? failure(503)() : Promise.resolve(new Blob(['x']))));
      sut.want('users', '1', () => undefined);
      await jest.advanceTimersByTimeAsync(0);
      sut.want('users', '2', () => undefined);
      await jest.advanceTimersByTimeAsync(limits.restMs - 1);
      expect(asked).toEqual(['users/1']);

      isAway = false;
      await jest.advanceTimersByTimeAsync(1);
      expect(asked).toEqual(['users/1', 'users/2']);
      expect(sut.find('users', '2')).toMatch(/^blob:/);
    } finally {
      jest.useRealTimers();
    }
  });
});
