import { measureGaps, splitSweeps } from './sweeps.js';

const look = (at: number, ...userIds: string[]) => ({ at, userIds });

describe(splitSweeps.name, () => {
  it('begins a new sweep when everybody has been looked at', () => {
    const looks = [look(1_000, '1', '2'), look(3_000, '3'), look(46_000, '1', '2'), look(48_500, '3')];

    expect(splitSweeps(looks, new Set(['1', '2', '3']))).toEqual([
      { calls: 2, repeats: 0, seconds: 2 },
      { calls: 2, repeats: 0, seconds: 2.5 },
    ]);
  });

  it('counts who is looked at again before that', () => {
    const looks = [look(0, '1'), look(0, '1', '2'), look(0, '2', '3')];

    expect(splitSweeps(looks, new Set(['1', '2', '3']))).toEqual([{ calls: 3, repeats: 2, seconds: 0 }]);
  });

  it('leaves out a sweep that is not over', () => {
    expect(splitSweeps([look(0, '1')], new Set(['1', '2']))).toEqual([]);
  });
});

describe(measureGaps.name, () => {
  it('is the time between the looks at one user', () => {
    expect(measureGaps([look(0, '1', '2'), look(40, '1'), look(45, '1', '2')])).toEqual([40, 5, 45]);
  });
});
