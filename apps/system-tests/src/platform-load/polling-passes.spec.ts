import { measureGaps, splitPasses } from './polling-passes.js';

const lookUp = (at: number, ...userIds: string[]) => ({ at, userIds });

describe(splitPasses.name, () => {
  it('starts a new pass when every streamer has been looked up', () => {
    const lookUps = [
      lookUp(1_000, '1', '2'),
      lookUp(3_000, '3'),
      lookUp(46_000, '1', '2'),
      lookUp(48_500, '3'),
    ];

    expect(splitPasses(lookUps, new Set(['1', '2', '3']))).toEqual([
      { calls: 2, repeats: 0, seconds: 2 },
      { calls: 2, repeats: 0, seconds: 2.5 },
    ]);
  });

  it('counts streamers that are looked up again before that', () => {
    const lookUps = [lookUp(0, '1'), lookUp(0, '1', '2'), lookUp(0, '2', '3')];

    expect(splitPasses(lookUps, new Set(['1', '2', '3']))).toEqual([{ calls: 3, repeats: 2, seconds: 0 }]);
  });

  it('leaves out an unfinished pass', () => {
    expect(splitPasses([lookUp(0, '1')], new Set(['1', '2']))).toEqual([]);
  });
});

describe(measureGaps.name, () => {
  it('returns the times between look-ups of the same user', () => {
    expect(measureGaps([lookUp(0, '1', '2'), lookUp(40, '1'), lookUp(45, '1', '2')])).toEqual([40, 5, 45]);
  });
});
