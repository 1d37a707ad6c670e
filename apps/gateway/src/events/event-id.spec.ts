import { jest } from '@jest/globals';
import { receivedAt } from '@stream-events/contracts';
import { validate, version } from 'uuid';
import { mintEventId } from './event-id.js';

describe(mintEventId.name, () => {
  // More than the supply of random bytes, several times.
  const ids = Array.from({ length: 20_000 }, mintEventId);

  it('mints valid UUIDs of version 7', () => {
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  });

  it('mints each once, ascending, also within a millisecond', () => {
    expect([...new Set(ids)].sort()).toEqual(ids);
    expect(new Set(ids.map(receivedAt)).size).toBeLessThan(ids.length);
  });

  it('says when the event was received', () => {
    const before = Date.now();
    const at = receivedAt(mintEventId());
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('differs in more than time and count from one to the next', () => {
    expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length);
  });

  it('follows a clock that was ahead and is set right, but not one that trembles', () => {
    const clock = jest.spyOn(Date, 'now');
    const mintAt = (time: number): number => {
      clock.mockReturnValue(time);
      return receivedAt(mintEventId());
    };
    const real = Date.UTC(2040, 0, 1);

    expect(mintAt(real)).toBe(real);
    expect(mintAt(real - 500)).toBe(real);
    expect(mintAt(real - 86_400_000)).toBe(real - 86_400_000);
    clock.mockRestore();
  });
});
