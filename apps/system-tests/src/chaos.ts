import { parseArgs } from 'node:util';
import { describeMachine } from './measure/machine.js';
import { printAnswers, printReport, printSummary, summarize } from './chaos/report.js';
import { scenarios, type Pace } from './chaos/scenarios.js';
import { TestBed, type ScenarioResult } from './chaos/test-bed.js';
import { writeDocument } from './measure/document.js';

// npm run chaos: takes every part of the system away under load, looks for events that are lost or doubled, and writes
// docs/chaos.md. --quick is short, --only <name> is one scenario; both only print.

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const pace: Pace = flags.quick
  ? { kills: 1, frozenMs: 3_000, awayMs: 5_000, poisonRounds: 1, rollingRounds: 1 }
  : { kills: 20, frozenMs: 10_000, awayMs: 60_000, poisonRounds: 5, rollingRounds: 4 };

function say(line: string): void {
  process.stdout.write(`  ${line}\n`);
}

function chooseScenarios(): typeof scenarios {
  if (flags.only === undefined) return scenarios;
  const chosen = scenarios.filter(({ name }) => name === flags.only);
  if (chosen.length > 0) return chosen;
  throw new Error(`there is no scenario ${flags.only}, only ${scenarios.map(({ name }) => name).join(', ')}`);
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
  process.stdout.write(`\n${printSummary(results)}\n\n`);
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  say(`${list.events} events listed through the API; ${minutes} minutes`);
  if (!flags.quick && flags.only === undefined) {
    const machine = await describeMachine(bed.servers);
    const date = new Date().toISOString().slice(0, 10);
    await writeDocument('docs/chaos.md', printReport({ machine, date, minutes, scenarios, results, list }));
  }
  const findings = [...results.flatMap((result) => result.findings), ...list.findings];
  if (findings.length > 0) process.exitCode = 1;
} finally {
  await bed.stop();
}
