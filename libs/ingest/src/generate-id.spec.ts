import { jest } from '@jest/globals';
import { receivedAt } from '@stream-events/contracts';
import { validate, version } from 'uuid';
import { generateId } from './generate-id.js';

describe(generateId.name, () => {
  // Enough ids to refill the buffer of random bytes many times.
  const ids = Array.from({ length: 20_000 }, generateId);

  it('generates valid UUIDs of version 7', () => {
    expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  });

  it('generates unique ascending ids, also within a millisecond', () => {
    expect([...new Set(ids)].sort()).toEqual(ids);
    expect(new Set(ids.map(receivedAt)).size).toBeLessThan(ids.length);
  });

  it('contains the time of receipt', () => {
    const before = Date.now();
    const at = receivedAt(generateId());
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('has random digits after time and sequence', () => {
    expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(ids.length);
  });

  it('follows a clock that is corrected by hours, but ignores a step back of under a second', () => {
    const clock = jest.spyOn(Date, 'now');
    const generateAt = (time: number): number => {
      clock.mockReturnValue(time);
      return receivedAt(generateId());
    };
    const real = Date.UTC(2040, 0, 1);

    expect(generateAt(real)).toBe(real);
    expect(generateAt(real - 500)).toBe(real);
    expect(generateAt(real - 86_400_000)).toBe(real - 86_400_000);
    clock.mockRestore();
  });
});
