import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { describeMachine } from './measure/machine.js';
import { BenchBed, type SubjectName } from './live-bench/bench-bed.js';
import {
  measureFromStream,
  measureMaximum,
  measureOneByOne,
  measureWholeWay,
  type Measurement,
} from './live-bench/measurement.js';
import { judge, middle, printReport, type LiveBenchmarkResults, type Rounds } from './live-bench/report.js';
import { writeDocument } from './measure/document.js';
import { say } from './measure/progress.js';

// npm run bench:live: measures live delivery beside a bare `ws` broadcast and writes docs/live-benchmarks.md. --quick is short,
// --only maximum or --only latency is one part; all of these only print.

const partNames = ['maximum', 'latency'];
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
if (flags.only !== undefined && !partNames.includes(flags.only))
  throw new Error(`there is no part ${flags.only}, only ${partNames.join(', ')}`);

const clients = 1_000;
const eventsPerSecond = 20;
const rounds = flags.quick ? 1 : 3;
// V8 compiles what is hot within some seconds under load.
const pace = flags.quick ? { warmUpSeconds: 2, seconds: 4 } : { warmUpSeconds: 3, seconds: 7 };

/** One subject after the other, again and again: whatever else the machine does meets both of them. */
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

const bed = await BenchBed.start(clients);
try {
  const results = {
    machine: await describeMachine(bed.servers),
    cores: cpus().length,
    date: new Date().toISOString().slice(0, 10),
    clients,
    ...(await measureAll(bed)),
  };
  const report = printReport(results);
  if (flags.quick || flags.only !== undefined) process.stdout.write(`\n${report}`);
  else await writeDocument('docs/live-benchmarks.md', report);
  if (judge(results).some(({ isKept }) => !isKept)) process.exitCode = 1;
} finally {
  await bed.stop();
}
