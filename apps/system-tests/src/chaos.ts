import { parseArgs } from 'node:util';
import { printSections } from './chaos/report.js';
import { chooseScenarios, ScenarioRun } from './chaos/scenario-run.js';
import { scenarios, type Pace } from './chaos/scenarios.js';
import { startTestBed } from './chaos/test-bed.js';
import { report, type SystemTest } from './measure/report.js';
import { startServers } from './system/servers.js';

// npm run chaos: kills, freezes, or stops every part of the system under load, and looks for lost and duplicate events.
// --quick runs a short version; --only NAME,NAME runs some scenarios.

const test: SystemTest = {
  title: 'Chaos test',
  command: 'chaos',
  setting:
    'Two gateways and two events services, each in its own process, with embedded PostgreSQL (durable) and nats-server. Servers, services, and load share one machine.',
};
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const pace: Pace = flags.quick
  ? { kills: 1, frozenMs: 3_000, awayMs: 5_000, poisonRounds: 1, rollingRounds: 1 }
  : { kills: 20, frozenMs: 10_000, awayMs: 60_000, poisonRounds: 5, rollingRounds: 4 };

const load = { perSecond: 320, clients: 16 };

const chosen = chooseScenarios(scenarios, flags.only);
const startedAt = performance.now();
const bed = await startTestBed(await startServers(), 'chaos', { gateways: 2, events: 2 });
try {
  const run = new ScenarioRun(bed, load);
  const results = await run.runAll(chosen, (scenario) => scenario.run(run, pace));
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: printSections(results, { load, requestsSince: 'the restart (or the end of the outage)' }),
  });
} finally {
  await bed.stop();
}
