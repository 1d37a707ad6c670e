import { parseLocalTime, printLocalTime } from './local-time.js';

describe('local times', () => {
  it.each(['2026-01-15T07:30:00.000Z', '2026-07-15T23:59:59.000Z'])('keep %s', (time) => {
    expect(parseLocalTime(printLocalTime(time))).toBe(time);
  });

  it('are printed for the zone of this machine', () => {
    const noon = new Date(2026, 6, 15, 12, 0, 0);
    expect(printLocalTime(noon.toISOString())).toBe('2026-07-15T12:00:00');
  });

  it.each(['', 'yesterday'])('are empty for %j', (text) => {
    expect([printLocalTime(text), parseLocalTime(text)]).toEqual(['', '']);
  });
});
