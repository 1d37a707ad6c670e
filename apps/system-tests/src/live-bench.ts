import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BenchBed, type BedOptions, type SubjectName } from './live-bench/bench-bed.js';
import {
  measureFromStream,
  measureMaximum,
  measureOneByOne,
  measureWholeWay,
  sampled,
  type Measurement,
} from './live-bench/measurement.js';
import { middle, printSections, type LiveBenchmarkResults, type Rounds } from './live-bench/report.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';

// npm run bench:live: alternates between live delivery and a bare `ws` broadcast, and writes docs/live-benchmarks.md. --quick runs a short
// version; --only maximum, --only latency, or --only many runs one part. With any of these options, the command prints the result and
// leaves the page unchanged.

const test: SystemTest = {
  title: 'Live benchmarks',
  command: 'bench:live',
  page: 'live-benchmarks.md',
  setting: 'Servers, clients, and load share one machine.',
};
const partNames = ['maximum', 'latency', 'many'];
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
if (flags.only !== undefined && !partNames.includes(flags.only))
  throw new Error(`unknown part ${flags.only}; the parts are ${partNames.join(', ')}`);

const clients = 1_000;
const eventsPerSecond = 20;
// As many clients as one gateway accepts. One in five has a filter.
const many = { clients: 10_000, filterEvery: 5, eventsPerSecond: 5 };
const rounds = flags.quick ? 1 : 3;
// Warm-up: under load, V8 compiles hot code within a few seconds.
const pace = flags.quick ? { warmUpSeconds: 2, seconds: 4 } : { warmUpSeconds: 3, seconds: 7 };

function has(part: string): boolean {
  return flags.only === undefined || flags.only === part;
}

/** Alternates the subjects, so that other load on the machine affects both equally. */
async function alternate(
  label: string,
  work: (subject: SubjectName) => Promise<Measurement>,
): Promise<Rounds> {
  const results: Rounds = { bare: [], gateway: [] };
  for (let round = 1; round <= rounds; round += 1) {
    for (const subject of ['bare', 'gateway'] as const) {
      say(`${label}, round ${round}/${rounds}, ${subject}`);
      results[subject].push(await work(subject));
    }
  }
  return results;
}

async function measureAll(bed: BenchBed): Promise<Omit<LiveBenchmarkResults, 'cores' | 'clients' | 'many'>> {
  const maximum = has('maximum')
    ? await alternate('maximum', (subject) => measureMaximum(bed, subject, pace))
    : undefined;
  const oneByOne =
    maximum && (await alternate('one by one', (subject) => measureOneByOne(bed, subject, pace)));
  const half = maximum && (await measureHalf(bed, maximum));
  const rounds = has('latency')
    ? await alternate(`${eventsPerSecond} events/s`, (subject) =>
        measureWholeWay(bed, subject, { ...pace, eventsPerSecond, sampleEvery: 1 }),
      )
    : undefined;
  return { maximum, oneByOne, half, steady: rounds && { eventsPerSecond, rounds } };
}

/** Starts new servers, because the earlier parts have changed the memory use of the running ones. */
async function measureMany(): Promise<LiveBenchmarkResults['many']> {
  if (!has('many')) return undefined;
  const rounds = await onBed(many, (bed) =>
    alternate(`${many.clients} clients`, (subject) =>
      measureWholeWay(bed, subject, {
        ...pace,
        eventsPerSecond: many.eventsPerSecond,
        sampleEvery: sampled,
      }),
    ),
  );
  return { ...many, rounds };
}

async function measureHalf(bed: BenchBed, maximum: Rounds): Promise<LiveBenchmarkResults['half']> {
  const half = (subject: SubjectName): number => middle(maximum[subject]).perSecond / clients / 2;
  const perSecond = { bare: half('bare'), gateway: half('gateway') };
  const rounds = await alternate('half of the maximum', (subject) =>
    measureFromStream(bed, subject, { ...pace, eventsPerSecond: perSecond[subject] }),
  );
  return { eventsPerSecond: perSecond, rounds };
}

async function onBed<T>(options: BedOptions, work: (bed: BenchBed) => Promise<T>): Promise<T> {
  const bed = await BenchBed.start(options);
  try {
    return await work(bed);
  } finally {
    await bed.stop();
  }
}

const startedAt = performance.now();
const manyResults = await measureMany();
await onBed({ clients }, async (bed) =>
  report(test, {
    servers: bed.servers,
    startedAt,
    sections: printSections({
      cores: cpus().length,
      clients,
      many: manyResults,
      ...(await measureAll(bed)),
    }),
    isWhole: !flags.quick && flags.only === undefined,
  }),
);
