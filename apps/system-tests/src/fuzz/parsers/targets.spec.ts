import { fuzzParser } from './fuzz-parser.js';
import { parserTargets } from './targets.js';

// Number of inputs per target. `npm run fuzz` uses 100,000.
const inputs = 1_000;

describe('the parsers of input from outside', () => {
  it.each(parserTargets.map((target) => [target.name, target] as const))(
    'keep their promises for changed inputs: %s',
    async (_, target) => {
      const { outcomes, findings } = await fuzzParser(target, { seed: 'test', inputs });

      expect(findings).toEqual([]);
      expect(Object.keys(outcomes).length).toBeGreaterThan(1);
    },
  );
});

describe(fuzzParser.name, () => {
  const brittle = {
    name: 'brittle',
    description: 'fails on NUL',
    seeds: ['{"a":1}'],
    run: (input: Buffer): string => {
      if (input.includes(0)) throw new Error('there is a NUL');
      return 'accepted';
    },
  };

  it('finds a defect, and reports its input', async () => {
    const { findings, outcomes } = await fuzzParser(brittle, { seed: '1', inputs: 2_000 });

    expect(outcomes.defect).toBe(findings.length);
    const [first] = findings;
    expect(first?.error).toContain('there is a NUL');
    expect(Buffer.from(first?.input ?? '', 'base64').includes(0)).toBe(true);
  });

  it.each([
    ['an input that is always slow', Infinity, 1],
    ['no input that was slow once, because the process did other work', 1, 0],
  ])('reports %s', async (_, slowCalls, expected) => {
    let calls = 0;
    const run = (): string => {
      calls += 1;
      // The first call is the warm-up.
      if (calls > 1 && calls <= 1 + slowCalls) useCpu(1_100);
      return 'accepted';
    };
    const { findings } = await fuzzParser({ ...brittle, run }, { seed: '1', inputs: 1 });

    expect(findings).toHaveLength(expected);
  });

  it('makes the same inputs for the same seed', async () => {
    const run = (seed: string): Promise<string[]> =>
      fuzzParser(brittle, { seed, inputs: 2_000 }).then(({ findings }) => findings.map(({ input }) => input));

    expect(await run('1')).toEqual(await run('1'));
    expect(await run('1')).not.toEqual(await run('2'));
  });
});

function useCpu(ms: number): void {
  const startedAt = process.cpuUsage();
  for (;;) {
    const { user, system } = process.cpuUsage(startedAt);
    if (user + system >= ms * 1_000) return;
  }
}
