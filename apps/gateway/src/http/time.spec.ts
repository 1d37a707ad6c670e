import { printTime, printTimeOrNull } from './time.js';

describe(printTime.name, () => {
  it.each([
    ['2026-11-21T07:30:00.000Z', '2026-11-21T07:30:00+0000'],
    ['2026-11-21T07:30:00.999Z', '2026-11-21T07:30:00+0000'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00+0000'],
  ])('prints %s as %s', (time, printed) => {
    expect(printTime(Date.parse(time))).toBe(printed);
    expect(printTimeOrNull(Date.parse(time))).toBe(printed);
  });
});

describe(printTimeOrNull.name, () => {
  it('keeps null', () => {
    expect(printTimeOrNull(null)).toBeNull();
  });
});
