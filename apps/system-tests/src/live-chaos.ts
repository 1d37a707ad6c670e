import { parseArgs } from 'node:util';
import { runChaos } from './live-chaos/chaos.js';
import { LiveBed, type Size } from './live-chaos/live-bed.js';
import { runPositions } from './live-chaos/positions.js';
import { runReturn } from './live-chaos/return.js';
import { runSlowReaders } from './live-chaos/slow-readers.js';
import { say } from './measure/progress.js';
import type { Section } from './measure/report.js';
import { report, type SystemTest } from './measure/report.js';

// npm run chaos:live: tests a thousand WebSocket clients under faults. Gateways and broker restart at random, readers stop reading, all
// clients reconnect together, and clients send invalid positions. Writes docs/live-chaos.md. --quick runs a short version; --only PART runs
// one part. With either option, the command prints the result and leaves the page unchanged.

const test: SystemTest = {
  title: 'Live chaos test',
  command: 'chaos:live',
  page: 'live-chaos.md',
  setting:
    'Two gateways and one events service, each in its own process, with embedded PostgreSQL (durable) and nats-server. Servers, services, and clients share one machine.',
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

function chooseParts(): [string, (bed: LiveBed) => Promise<Section>][] {
  const all = Object.entries(parts);
  if (flags.only === undefined) return all;
  const chosen = all.filter(([name]) => name === flags.only);
  if (chosen.length > 0) return chosen;
  throw new Error(`unknown part ${flags.only}; the parts are ${Object.keys(parts).join(', ')}`);
}

async function runParts(bed: LiveBed): Promise<Section[]> {
  const reports: Section[] = [];
  for (const [name, run] of chosen) {
    say(`${name}: running`);
    const partStartedAt = performance.now();
    reports.push(
      await run(bed).catch(async (error: unknown) => {
        // Continue with the other parts.
        await bed.abandon();
        return printFailure(name, error);
      }),
    );
    say(`${name}: ${Math.round((performance.now() - partStartedAt) / 1_000)} s`);
  }
  return reports;
}

function printFailure(name: string, error: unknown): Section {
  const measured = error instanceof Error ? error.message : String(error);
  say(`${name}: FAILED: ${error instanceof Error ? error.stack : measured}`);
  return {
    title: name,
    paragraphs: [`This part failed: ${measured}.`],
    promises: [{ promise: `The part "${name}" finishes`, measured, isKept: false }],
  };
}

const chosen = chooseParts();
const startedAt = performance.now();
const bed = await LiveBed.start(size);
try {
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: await runParts(bed),
    isWhole: !flags.quick && flags.only === undefined,
  });
} finally {
  await bed.stop();
}
