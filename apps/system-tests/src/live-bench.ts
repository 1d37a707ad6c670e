import { parseArgs } from 'node:util';
import { measureLive, type LivePlan } from './live-bench/measurement.js';
import { printMethod, printResults, type LiveResult } from './live-bench/report.js';
import { report, type SystemTest } from './measure/report.js';
import { startServers } from './system/servers.js';

// npm run bench:live: measures live delivery. --quick runs a short version; --only maximum, --only latency, or --only many runs one part.

const test: SystemTest = {
  title: 'Live benchmarks',
  command: 'bench:live',
  setting: 'Servers, clients, and load share one machine.',
};
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});

const rounds = flags.quick ? 1 : 3;
// Warm-up: under load, V8 compiles hot code within a few seconds.
const pace = flags.quick ? { warmUpSeconds: 2, seconds: 4 } : { warmUpSeconds: 3, seconds: 7 };
const plans: Readonly<Record<string, LivePlan>> = {
  maximum: { clients: 1_000, rounds, ...pace },
  latency: { clients: 1_000, eventsPerSecond: 20, sampleEvery: 1, rounds, ...pace },
  // As many clients as one gateway accepts. They read the clock for every 17th message only, because reading it each time would make them
  // slower than the gateway. 17 does not divide the number of clients, so all clients are sampled.
  many: {
    clients: 10_000,
    eventsPerSecond: 5,
    filterEvery: 5,
    sampleEvery: 17,
    rounds,
    ...pace,
  },
};
const chosen = Object.entries(plans).filter(([name]) => flags.only === undefined || flags.only === name);
if (chosen.length === 0)
  throw new Error(`unknown part ${flags.only}; the parts are ${Object.keys(plans).join(', ')}`);

const startedAt = performance.now();
const servers = await startServers();
try {
  const results: LiveResult[] = [];
  for (const [name, plan] of chosen) results.push({ plan, rounds: await measureLive(servers, name, plan) });
  await report(test, {
    servers,
    startedAt,
    sections: [printMethod(), printResults(results)],
  });
} finally {
  await servers.stop();
}
