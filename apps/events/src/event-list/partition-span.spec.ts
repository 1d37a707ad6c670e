import { findSpan } from './partition-span.js';

const partitions = [
  { name: 'd', from: '40', to: '50' },
  // No partition covers 30 to 40.
  { name: 'c', from: '20', to: '30' },
  { name: 'b', from: '10', to: '20' },
  { name: 'a', from: '00', to: '10' },
];
const everything = { from: '00', to: '99' };

describe(findSpan.name, () => {
  it('returns the first partition in the order of travel that has ids of the range', () => {
    expect(findSpan(partitions, everything, { isOlder: true, width: 1 })).toEqual({ partition: 'd', from: '40', to: '50' }); // prettier-ignore
    expect(findSpan(partitions, everything, { isOlder: false, width: 1 })).toEqual({ partition: 'a', from: '00', to: '10' }); // prettier-ignore
    expect(findSpan(partitions, { from: '05', to: '39' }, { isOlder: true, width: 1 })?.partition).toBe('c');
    expect(findSpan(partitions, { from: '20', to: '39' }, { isOlder: false, width: 1 })?.partition).toBe('c');
  });

  it('returns the bounds of several partitions, without a name', () => {
    expect(findSpan(partitions, everything, { isOlder: true, width: 2 })).toEqual({ partition: null, from: '20', to: '50' }); // prettier-ignore
    expect(findSpan(partitions, everything, { isOlder: false, width: 3 })).toEqual({ partition: null, from: '00', to: '30' }); // prettier-ignore
    expect(findSpan(partitions, everything, { isOlder: true, width: Infinity })).toEqual({ partition: null, from: '00', to: '50' }); // prettier-ignore
  });

  it('returns the name when only one partition of a wider span is left', () => {
    expect(findSpan(partitions, { from: '00', to: '09' }, { isOlder: true, width: 4 })?.partition).toBe('a');
  });

  it('returns nothing when no partition has such ids', () => {
    expect(findSpan(partitions, { from: '30', to: '39' }, { isOlder: true, width: 4 })).toBeUndefined();
    expect(findSpan([], everything, { isOlder: false, width: 1 })).toBeUndefined();
  });
});
