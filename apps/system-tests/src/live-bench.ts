import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BenchBed, type SubjectName } from './live-bench/bench-bed.js';
import {
  measureFromStream,
  measureMaximum,
  measureOneByOne,
  measureWholeWay,
  type Measurement,
} from './live-bench/measurement.js';
import { middle, printSections, type LiveBenchmarkResults, type Rounds } from './live-bench/report.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';

// npm run bench:live: measures live delivery and a bare `ws` broadcast in turn, and writes docs/live-benchmarks.md. --quick runs a
// short version; --only maximum or --only latency runs one part. Both only print the result.

const test: SystemTest = {
  title: 'Live benchmarks',
  command: 'bench:live',
  page: 'live-benchmarks.md',
  setting: 'Servers, clients, and load share one machine.',
};
const partNames = ['maximum', 'latency'];
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
if (flags.only !== undefined && !partNames.includes(flags.only))
  throw new Error(`unknown part ${flags.only}; the parts are ${partNames.join(', ')}`);

const clients = 1_000;
const eventsPerSecond = 20;
const rounds = flags.quick ? 1 : 3;
// V8 compiles hot code within a few seconds under load.
const pace = flags.quick ? { warmUpSeconds: 2, seconds: 4 } : { warmUpSeconds: 3, seconds: 7 };

/** Runs the subjects in alternation, so that other load on the machine affects both. */
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

type Parts = Pick<LiveBenchmarkResults, 'maximum' | 'oneByOne' | 'steady' | 'half'>;

async function measureAll(bed: BenchBed): Promise<Parts> {
  const parts: Parts = { maximum: undefined, oneByOne: undefined, steady: undefined, half: undefined };
  if (flags.only !== 'latency') {
    parts.maximum = await alternate('maximum', (subject) => measureMaximum(bed, subject, pace));
    parts.oneByOne = await alternate('one by one', (subject) => measureOneByOne(bed, subject, pace));
    parts.half = await measureHalf(bed, parts.maximum);
  }
  if (flags.only !== 'maximum') {
    const rounds = await alternate(`${eventsPerSecond} events/s`, (subject) =>
      measureWholeWay(bed, subject, { ...pace, eventsPerSecond }),
    );
    parts.steady = { eventsPerSecond, rounds };
  }
  return parts;
}

async function measureHalf(bed: BenchBed, maximum: Rounds): Promise<LiveBenchmarkResults['half']> {
  const half = (subject: SubjectName): number => middle(maximum[subject]).perSecond / clients / 2;
  const perSecond = { bare: half('bare'), gateway: half('gateway') };
  const rounds = await alternate('half of the maximum', (subject) =>
    measureFromStream(bed, subject, { ...pace, eventsPerSecond: perSecond[subject] }),
  );
  return { eventsPerSecond: perSecond, rounds };
}

const startedAt = performance.now();
const bed = await BenchBed.start(clients);
try {
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: printSections({ cores: cpus().length, clients, ...(await measureAll(bed)) }),
    isWhole: !flags.quick && flags.only === undefined,
  });
} finally {
  await bed.stop();
}
