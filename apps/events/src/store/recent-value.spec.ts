import { jest } from '@jest/globals';
import { createLogger } from '@stream-events/service';
import { RecentValue } from './recent-value.js';

describe(RecentValue.name, () => {
  let now: number;
  let readings: { resolve: (value: string) => void; reject: (error: Error) => void }[];
  let value: RecentValue<string>;

  beforeEach(() => {
    now = 100_000;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    readings = [];
    const read = (): Promise<string> => new Promise((resolve, reject) => readings.push({ resolve, reject }));
    value = new RecentValue({ name: 'a value', read, logger: createLogger('test', 'silent') });
  });
  afterEach(() => jest.restoreAllMocks());

  it('is read once for several uses within 3 s', async () => {
    const uses = [value.get(), value.get()];
    readings[0]!.resolve('first');
    expect(await Promise.all(uses)).toEqual(['first', 'first']);

    now += 3_000;
    expect(await value.get()).toBe('first');

    now += 1;
    const later = value.get();
    readings[1]!.resolve('second');
    expect(await later).toBe('second');
    expect(readings).toHaveLength(2);
  });

  it('is read again when the reading that a use has joined began more than 3 s before the use', async () => {
    const early = value.get();
    now += 3_001;
    const late = value.get();
    readings[0]!.resolve('before a change');

    expect(await early).toBe('before a change');
    expect(readings).toHaveLength(2);
    readings[1]!.resolve('after the change');
    expect(await late).toBe('after the change');
  });

  it('does not return an old value when it cannot be read', async () => {
    const first = value.get();
    readings[0]!.resolve('first');
    await first;

    now += 3_001;
    const second = value.get();
    readings[1]!.reject(new Error('no database'));

    await expect(second).rejects.toThrow('no database');
  });
});
