import { parseArgs } from 'node:util';
import { describeMachine } from './bench/machine.js';
import { runChaos } from './live/chaos.js';
import { LiveBed, type Size } from './live/live-bed.js';
import { runPositions } from './live/positions.js';
import { printReport } from './live/report.js';
import { runReturn } from './live/return.js';
import { runSlowReaders } from './live/slow-readers.js';
import { writeDocument } from './measure/document.js';
import { say } from './measure/progress.js';
import { printPromises, type PartReport } from './measure/promise.js';

// npm run live-trial: a thousand WebSocket clients while gateways and broker are restarted, beside readers that stand still,
// coming back together, and with positions that are no use; writes docs/live-trial.md. --quick is short, --only <part> is
// one part; both only print.

const parts = { chaos: runChaos, 'slow-readers': runSlowReaders, return: runReturn, positions: runPositions };

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const size: Size = flags.quick
  ? {
      clients: 300,
      chaosSeconds: 30,
      windowPairs: 1,
      windowSeconds: 6,
      stalledReaders: 20,
      missedEvents: 1_000,
    }
  : {
      clients: 1_000,
      chaosSeconds: 120,
      windowPairs: 12,
      windowSeconds: 5,
      stalledReaders: 100,
      missedEvents: 4_000,
    };

function chooseParts(): [string, (bed: LiveBed) => Promise<PartReport>][] {
  const all = Object.entries(parts);
  if (flags.only === undefined) return all;
  const chosen = all.filter(([name]) => name === flags.only);
  if (chosen.length > 0) return chosen;
  throw new Error(`there is no part ${flags.only}, only ${Object.keys(parts).join(', ')}`);
}

async function runParts(bed: LiveBed): Promise<PartReport[]> {
  const reports: PartReport[] = [];
  for (const [name, run] of chosen) {
    say(`${name}: running`);
    const partStartedAt = performance.now();
    reports.push(
      await run(bed).catch(async (error: unknown) => {
        // The other parts are worth running all the same.
        await bed.abandon();
        return printFailure(name, error);
      }),
    );
    say(`${name}: ${Math.round((performance.now() - partStartedAt) / 1_000)} s`);
  }
  return reports;
}

function printFailure(name: string, error: unknown): PartReport {
  const measured = error instanceof Error ? error.message : String(error);
  say(`${name}: FAILED: ${error instanceof Error ? error.stack : measured}`);
  return {
    title: name,
    paragraphs: [`This part did not come to its end: ${measured}.`],
    promises: [{ promise: `The part "${name}" comes to its end`, measured, isKept: false }],
  };
}

const chosen = chooseParts();
const startedAt = performance.now();
const bed = await LiveBed.start(size);
try {
  const reports = await runParts(bed);
  process.stdout.write(`\n${printPromises(reports)}\n\n`);
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const machine = await describeMachine(bed.servers);
  const date = new Date().toISOString().slice(0, 10);
  const page = printReport({ machine, date, minutes, parts: reports });
  if (flags.quick || flags.only !== undefined) process.stdout.write(page);
  else await writeDocument('docs/live-trial.md', page);
  if (reports.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
} finally {
  await bed.stop();
}
