import { parseArgs } from 'node:util';
import { describeMachine } from './bench/machine.js';
import { writeDocument } from './measure/document.js';
import { say } from './measure/progress.js';
import { printPromises, type PartReport } from './measure/promise.js';
import { runChanging } from './platform/changing.js';
import { runOutages } from './platform/outages.js';
import { PlatformBed, type Size } from './platform/platform-bed.js';
import { printReport } from './platform/report.js';
import { runShowing } from './platform/showing.js';
import { runSubscribing } from './platform/subscribing.js';
import { runSweeping } from './platform/sweeping.js';

// npm run platform-trial: monitors 10,000 streamers on the simulated platform, takes a monitor and the platform away, and
// writes docs/platform-trial.md. --quick is short, and only prints.

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const size: Size = flags.quick
  ? {
      streamers: 2_000,
      changingStreamers: 100,
      changingSeconds: 30,
      sweeps: 2,
      outageSeconds: 8,
      baselineSeconds: 4,
    }
  : {
      streamers: 10_000,
      changingStreamers: 500,
      changingSeconds: 120,
      sweeps: 2,
      outageSeconds: 15,
      baselineSeconds: 5,
    };

// In this order: the later parts find the streamers of the first one.
const parts = {
  subscribing: runSubscribing,
  sweeping: runSweeping,
  showing: runShowing,
  changing: runChanging,
  outages: runOutages,
};

async function runAll(bed: PlatformBed): Promise<PartReport[]> {
  const reports: PartReport[] = [];
  for (const [name, run] of Object.entries(parts)) {
    say(`${name}: running`);
    const startedAt = performance.now();
    reports.push(await run(bed));
    say(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  return reports;
}

const startedAt = performance.now();
const bed = await PlatformBed.start(size);
try {
  const reports = await runAll(bed);
  process.stdout.write(`\n${printPromises(reports)}\n\n`);
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const machine = await describeMachine(bed.servers);
  const date = new Date().toISOString().slice(0, 10);
  const page = printReport({ machine, date, minutes, parts: reports });
  if (flags.quick) process.stdout.write(page);
  else await writeDocument('docs/platform-trial.md', page);
  if (reports.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
} finally {
  await bed.stop();
}
