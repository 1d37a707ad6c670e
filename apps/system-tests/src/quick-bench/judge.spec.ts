import { judge } from './judge.js';

const baseline = [100, 104, 98, 130, 131, 99, 101];
/** Ratios of a comparison with small errors, and of one with large errors. The median of both is 1. */
const small = [1, 1.02, 0.99, 1.01, 0.98, 1, 1];
const large = [1, 1.3, 0.8, 1.2, 0.7, 1.1, 0.9];

function compare(ratios: readonly number[], loss = 1) {
  return judge({ own: baseline.map((cpu, round) => cpu * (ratios[round] ?? 1) * loss), baseline });
}

describe(judge.name, () => {
  it('finds no loss between equal runs', () => {
    const verdict = compare(small);
    expect(verdict).toMatchObject({ ratio: 1, isLoss: false });
    expect(verdict.spread).toBeCloseTo(1.014, 3);
  });

  it('finds a loss of 10 %, although the speed of the machine changes', () => {
    expect(compare(small, 1.1)).toMatchObject({ ratio: expect.closeTo(1.1, 5), isLoss: true });
  });

  it('estimates the same spread with and without a loss', () => {
    expect(compare(large, 1.1).spread).toBeCloseTo(compare(large).spread, 10);
  });

  it('calls 4 % no loss, even if all rounds agree', () => {
    expect(compare([], 1.04)).toMatchObject({
      ratio: expect.closeTo(1.04, 5),
      limit: expect.closeTo(1, 5),
      isLoss: false,
    });
  });

  it('calls no loss what a comparison of a commit with itself can give', () => {
    const verdict = compare(large, 1.1);
    expect(verdict.limit).toBeGreaterThan(1.15);
    expect(verdict.isLoss).toBe(false);
  });

  it('calls a gain no loss', () => {
    expect(compare(small, 0.5)).toMatchObject({ ratio: 0.5, isLoss: false });
  });
});
