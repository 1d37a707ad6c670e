import { parseArgs } from 'node:util';
import { measure } from './bench/measurement.js';
import { printMethod, printResults, printTime, type Runs } from './bench/report.js';
import { startSubject } from './bench/subject.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';
import { createStoreTemplate } from './system/filled-store.js';
import { startServers } from './system/servers.js';

// npm run bench: alternates between the write path and the raw ceiling. --quick runs a short version.

const test: SystemTest = {
  title: 'Benchmarks',
  command: 'bench',
  setting: 'Services, servers, and load share one machine.',
};

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

const startedAt = performance.now();
const size = { connections: 64, filledEvents: flags.quick ? 20_000 : 200_000 };
const rounds = flags.quick ? 1 : 3;
// Warm-up: under load, V8 compiles hot code within a few seconds.
const pace = { warmUpSeconds: flags.quick ? 4 : 10, seconds: flags.quick ? 6 : 12 };
const plan = [
  { name: 'ceiling', subject: 'ceiling', kind: 'notifications' },
  { name: '1 + 1', subject: '1 + 1', kind: 'notifications' },
  { name: '2 + 2', subject: '2 + 2', kind: 'notifications' },
  { name: 'POST, 1 + 1', subject: '1 + 1', kind: 'posts' },
] as const;

const servers = await startServers();
try {
  say(`filling a store with ${size.filledEvents} events`);
  const createStore = await createStoreTemplate(servers, size.filledEvents);
  const runs: Runs = { ceiling: [], '1 + 1': [], '2 + 2': [], 'POST, 1 + 1': [] };
  // Alternate the subjects, so that other load on the machine affects all equally.
  for (let round = 1; round <= rounds; round += 1)
    for (const { name, kind, ...planned } of plan) {
      const subject = await startSubject(planned.subject, servers, await createStore());
      try {
        const run = await measure(subject, servers, { kind, connections: size.connections, ...pace });
        runs[name].push(run);
        say(
          `round ${round}/${rounds}, ${name}: ${Math.round(run.perSecond)}/s, p99 ${run.latencyMs.p99.toFixed(1)} ms`,
        );
      } finally {
        await subject.stop();
      }
    }
  const sections = [printMethod(size), printResults(runs), printTime(runs)];
  await report(test, { servers, startedAt, sections });
} finally {
  await servers.stop();
}
