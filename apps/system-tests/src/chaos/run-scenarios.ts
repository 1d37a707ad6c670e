import { say } from '../measure/progress.js';
import type { ServerAddresses } from '../system/servers.js';
import { printAnswers, summarize, type ChaosResults } from './report.js';
import type { DescribedScenario } from './scenarios.js';
import type { ScenarioResult, TestBed } from './test-bed.js';

/**
 * Selects scenarios from a comma-separated list of names. Default: all.
 *
 * @throws Error for an unknown name
 */
export function chooseScenarios<S extends DescribedScenario>(
  all: readonly S[],
  only: string | undefined,
): readonly S[] {
  if (only === undefined) return all;
  const names = only.split(',');
  const known = all.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new Error(`unknown scenario ${unknown.join(', ')}; the scenarios are ${known.join(', ')}`);
  return all.filter(({ name }) => names.includes(name));
}

/** Runs the scenarios in order, compares the API's event list with the sent events, and prints the findings. */
export async function runScenarios<S extends DescribedScenario>(
  bed: TestBed<ServerAddresses>,
  scenarios: readonly S[],
  run: (scenario: S) => Promise<void>,
): Promise<ChaosResults> {
  const results: ScenarioResult[] = [];
  for (const scenario of scenarios) {
    const { name } = scenario;
    say(`${name}: running`);
    const result = await bed.run(name, () => run(scenario));
    results.push(result);
    say(`${name}: answers: ${printAnswers(result)}`);
    for (const line of summarize(result.findings)) say(`${name}: FOUND ${line}`);
  }
  const list = await bed.checkList();
  for (const line of summarize(list.findings)) say(`list: FOUND ${line}`);
  return { scenarios, results, list };
}
