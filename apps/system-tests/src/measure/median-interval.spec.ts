import { medianInterval } from './median-interval.js';

describe(medianInterval.name, () => {
  it('of ten values is between the second and the second to last', () => {
    const { from, to, confidence } = medianInterval([5, 3, 8, 1, 9, 2, 10, 4, 7, 6]);
    expect([from, to]).toEqual([2, 9]);
    expect(confidence).toBeCloseTo(0.9785, 4);
  });

  it('of a few values is between the lowest and the highest', () => {
    const { from, to, confidence } = medianInterval([2, 1, 3]);
    expect([from, to]).toEqual([1, 3]);
    expect(confidence).toBeCloseTo(0.75, 4);
  });
});
