import { parseArgs } from 'node:util';
import { printAnswers, printSections, summarize } from './chaos/report.js';
import { scenarios, type Pace } from './chaos/scenarios.js';
import { TestBed, type ScenarioResult } from './chaos/test-bed.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';

// npm run chaos: kills, freezes, or stops every part of the system under load, looks for lost and duplicate events, and writes
// docs/chaos.md. --quick runs a short version; --only <name> runs one scenario. Both only print the result.

const test: SystemTest = {
  title: 'Chaos test',
  command: 'chaos',
  page: 'chaos.md',
  setting:
    'Two gateways and two events services, each in its own process, with embedded PostgreSQL (durable) and nats-server. Servers, services, and load share one machine.',
};
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const pace: Pace = flags.quick
  ? { kills: 1, frozenMs: 3_000, awayMs: 5_000, poisonRounds: 1, rollingRounds: 1 }
  : { kills: 20, frozenMs: 10_000, awayMs: 60_000, poisonRounds: 5, rollingRounds: 4 };

function chooseScenarios(): typeof scenarios {
  if (flags.only === undefined) return scenarios;
  const chosen = scenarios.filter(({ name }) => name === flags.only);
  if (chosen.length > 0) return chosen;
  throw new Error(
    `unknown scenario ${flags.only}; the scenarios are ${scenarios.map(({ name }) => name).join(', ')}`,
  );
}

async function runAll(bed: TestBed): Promise<ScenarioResult[]> {
  const results: ScenarioResult[] = [];
  for (const { name, run } of chosen) {
    say(`${name}: running`);
    const result = await bed.run(name, () => run(bed, pace));
    results.push(result);
    say(`${name}: answers: ${printAnswers(result)}`);
    for (const line of summarize(result.findings)) say(`${name}: FOUND ${line}`);
  }
  return results;
}

const chosen = chooseScenarios();
const startedAt = performance.now();
const bed = await TestBed.start();
try {
  const results = await runAll(bed);
  const list = await bed.checkList();
  for (const line of summarize(list.findings)) say(`list: FOUND ${line}`);
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: printSections({ scenarios, results, list }),
    isWhole: !flags.quick && flags.only === undefined,
  });
} finally {
  await bed.close();
  await bed.system.stop();
  await bed.servers.stop();
}
