import { judge } from './judge.js';

describe(judge.name, () => {
  const steady = [100, 101, 99, 100, 102, 100, 99];

  it('finds no loss between equal runs', () => {
    const verdict = judge({ own: steady, baseline: steady });
    expect(verdict).toEqual({ ratio: 1, noise: expect.closeTo(1.03, 2), isLoss: false });
  });

  it('finds a loss of 10 %', () => {
    expect(judge({ own: steady.map((cpu) => cpu * 1.1), baseline: steady })).toMatchObject({ isLoss: true });
  });

  it('calls 4 % no loss, even without noise', () => {
    expect(judge({ own: [104, 104, 104], baseline: [100, 100, 100] })).toMatchObject({
      ratio: expect.closeTo(1.04, 5),
      noise: 1,
      isLoss: false,
    });
  });

  it('calls no loss what two runs of one commit also differ by', () => {
    const noisy = [100, 125, 90, 120, 95, 118, 92];
    expect(judge({ own: noisy.map((cpu) => cpu * 1.1), baseline: noisy })).toMatchObject({ isLoss: false });
  });

  it('calls a gain no loss', () => {
    expect(judge({ own: [50, 50, 50], baseline: [100, 100, 100] })).toMatchObject({
      ratio: 0.5,
      isLoss: false,
    });
  });
});
