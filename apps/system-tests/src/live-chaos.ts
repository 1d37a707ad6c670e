import { parseArgs } from 'node:util';
import { runChaos } from './live-chaos/chaos.js';
import { LiveBed, type Size } from './live-chaos/live-bed.js';
import { runPositions } from './live-chaos/positions.js';
import { runSlowReaders } from './live-chaos/slow-readers.js';
import { say } from './measure/progress.js';
import { report, type Section, type SystemTest } from './measure/report.js';

// npm run chaos:live: tests a thousand WebSocket clients under faults. Gateways and broker restart at random, readers stop reading,
// and clients send invalid positions. --quick runs a short version; --only PART runs one part.

const test: SystemTest = {
  title: 'Live chaos test',
  command: 'chaos:live',
  setting:
    'Two gateways and one events service, each in its own process, with embedded PostgreSQL (durable) and nats-server. Servers, services, and clients share one machine.',
};
const parts = { chaos: runChaos, 'slow-readers': runSlowReaders, positions: runPositions };

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
    }
  : {
      clients: 1_000,
      chaosSeconds: 120,
      windowPairs: 12,
      windowSeconds: 5,
      stalledReaders: 100,
    };

const chosen = Object.entries(parts).filter(([name]) => flags.only === undefined || name === flags.only);
if (chosen.length === 0)
  throw new Error(`unknown part ${flags.only}; the parts are ${Object.keys(parts).join(', ')}`);

async function runPart(name: string, run: (live: LiveBed) => Promise<Section>): Promise<Section> {
  say(`${name}: running`);
  try {
    return await run(live);
  } catch (error) {
    // Continue with the other parts.
    await live.abandon();
    const measured = error instanceof Error ? error.message : String(error);
    say(`${name}: FAILED: ${error instanceof Error ? error.stack : measured}`);
    return {
      title: name,
      paragraphs: [`This part failed: ${measured}.`],
      promises: [{ promise: `The part "${name}" finishes`, measured, isKept: false }],
    };
  }
}

const startedAt = performance.now();
const live = await LiveBed.start(size);
try {
  const sections: Section[] = [];
  for (const [name, run] of chosen) sections.push(await runPart(name, run));
  await report(test, {
    servers: live.bed.servers,
    startedAt,
    sections,
  });
} finally {
  await live.bed.stop();
}
