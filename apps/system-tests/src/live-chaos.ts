import { parseArgs } from 'node:util';
import { runChaos } from './live-chaos/chaos.js';
import { LiveBed, type Size } from './live-chaos/live-bed.js';
import { runPositions } from './live-chaos/positions.js';
import { runReturn } from './live-chaos/return.js';
import { runSlowReaders } from './live-chaos/slow-readers.js';
import { say } from './measure/progress.js';
import type { PartReport } from './measure/promise.js';
import { reportTrial, type Trial } from './measure/system-test-report.js';

// npm run chaos:live: a thousand WebSocket clients while gateways and broker are restarted, beside readers that stand still,
// coming back together, and with positions that are no use; writes docs/live-chaos.md. --quick is short, --only <part> is
// one part; both only print.

const trial: Trial = {
  title: 'Trial of live delivery',
  command: 'live-chaos',
  sharers: 'Servers, services and clients shared\none machine:',
  setting:
    'Two gateways and one events service, each a process of its own, with embedded PostgreSQL (durable) and nats-server.',
};
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
  await reportTrial(trial, {
    servers: bed.servers,
    startedAt,
    parts: await runParts(bed),
    isWhole: !flags.quick && flags.only === undefined,
  });
} finally {
  await bed.stop();
}
