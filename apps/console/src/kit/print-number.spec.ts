import { printBytes, printDuration } from './print-number.js';

describe('printBytes', () => {
  it.each([
    [0, '0 B'],
    [512, '512 B'],
    [1_024, '1 KiB'],
    [196_083_712, '187 MiB'],
    [5_000 * 1_024 ** 3, '4.88 TiB'],
  ])('prints %d bytes as %s', (bytes, text) => {
    expect(printBytes(bytes)).toBe(text);
  });
});

describe('printDuration', () => {
  it.each([
    [0, '0 s'],
    [59.6, '1 min'],
    [3_661, '1 h 1 min'],
    [86_405, '1 d 5 s'],
    [-3, '0 s'],
  ])('prints %d seconds as %s', (seconds, text) => {
    expect(printDuration(seconds)).toBe(text);
  });
});
