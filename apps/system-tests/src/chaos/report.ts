import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { median, quantile } from '../measure/quantile.js';
import type { Finding } from './checker.js';
import type { ChaosResults, DescribedScenario, LoadSize, ScenarioResult } from './scenario-run.js';

// Findings to print per kind. Without this limit, a lost batch would print up to 256.
const maxExamples = 5;

/** What differs between the pages of the chaos tests. */
export interface PageOptions {
  load: LoadSize;
  /** In words: the moment from which the page measures the time until requests succeed. */
  requestsSince: string;
}

export function printSections(chaos: ChaosResults, page: PageOptions): Section[] {
  const lines = printFindings(chaos);
  return [
    printMethod(chaos.scenarios, page.load),
    {
      title: 'Results',
      paragraphs: [
        `**Requests recovered**: from ${page.requestsSince} until notifications and POSTs succeeded at each gateway, including the start of the process. **Published**: from the same time until all events accepted before that time were stored and on the stream. Median / maximum, in seconds.`,
        printSummary(chaos.results),
      ],
      promises: printPromises(chaos),
    },
    ...(lines.length === 0 ? [] : [{ title: 'Findings', paragraphs: [lines.join('\n')], promises: [] }]),
  ];
}

function printMethod(scenarios: readonly DescribedScenario[], { clients, perSecond }: LoadSize): Section {
  return {
    title: 'Method',
    paragraphs: [
      `${clients} clients send ${perSecond} events per second: signed notifications, which are redelivered as the platform redelivers them; POSTs and test events with an \`Idempotency-Key\`, which are retried; and POSTs without a key, which are not retried. A client waits 5 s for a response and tries five times, alternating between the gateways. For each event, the sender records one of three outcomes:`,
      '- **accepted**: an attempt got a 2xx response\n- **refused**: every attempt got a 4xx response, or reached no gateway\n- **in doubt**: an attempt got 503 or no response, and none got 2xx',
      'After each scenario, the system settles, and every event is checked. Every accepted event is stored exactly once, unchanged, under the id in its 201 response. An event in doubt is stored at most once, a refused event is not stored, and nothing else is stored. The EVENTS stream carries each stored event, byte for byte. "Copies" counts additional messages of the same event on the stream. Subscribers recognize copies by `Nats-Msg-Id` and drop them.',
      table(
        ['scenario', 'fault'],
        scenarios.map(({ name, description }) => [name, description]),
      ),
    ],
    promises: [],
  };
}

function printPromises({ results, list }: ChaosResults): KeptPromise[] {
  const findings = results.reduce((sum, result) => sum + result.findings.length, 0);
  const accepted = results.reduce((sum, { outcomes }) => sum + outcomes.accepted, 0);
  return [
    {
      promise: 'No accepted event is lost, duplicated, or changed, in the store or on the stream',
      measured: `${formatCount(accepted)} accepted in ${results.length} scenarios, ${findings} findings`,
      isKept: accepted > 0 && findings === 0,
    },
    {
      promise: 'The event list of the API contains every event exactly once',
      measured: `${formatCount(list.events)} events by following \`next\`, ${list.findings.length} findings`,
      isKept: list.events > 0 && list.findings.length === 0,
    },
  ];
}

function printSummary(results: readonly ScenarioResult[]): string {
  const columns = [...new Set(results.flatMap(({ measured }) => Object.keys(measured)))];
  const rows = results.map((result) => [
    result.name,
    String(result.faults),
    ...(['accepted', 'refused', 'in doubt'] as const).map((outcome) => formatCount(result.outcomes[outcome])),
    formatTimes(result.requestsMs),
    formatTimes(result.publishedMs),
    formatCount(result.copies),
    ...columns.map((column) => result.measured[column] ?? ''),
    result.findings.length === 0 ? 'none' : `**${result.findings.length}**`,
  ]);
  const head = [
    'scenario',
    'faults',
    'accepted',
    'refused',
    'in doubt',
    'requests recovered',
    'published',
    'copies',
    ...columns,
  ];
  return table([...head, 'findings'], rows);
}

/** Counts the findings by kind, with some examples of each. */
export function summarize(findings: readonly Finding[]): string[] {
  const byKind = new Map<string, string[]>();
  for (const { kind, what } of findings) byKind.set(kind, [...(byKind.get(kind) ?? []), what]);
  return [...byKind].map(([kind, examples]) => {
    const more = examples.length > maxExamples ? ', …' : '';
    return `${examples.length} × ${kind}: ${examples.slice(0, maxExamples).join(', ')}${more}`;
  });
}

/** Number of attempts by result, for the progress output. */
export function printAnswers({ answers }: ScenarioResult): string {
  return Object.entries(answers)
    .map(([answer, count]) => `${count} × ${answer}`)
    .join(', ');
}

function printFindings({ results, list }: ChaosResults): string[] {
  return [...results, { name: 'list', findings: list.findings }].flatMap(({ name, findings }) =>
    summarize(findings).map((line) => `- ${name}: ${line}`),
  );
}

function formatTimes(times: readonly number[]): string {
  if (times.length === 0) return '';
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  return `${seconds(median(times))} / ${seconds(quantile(times, 1))}`;
}
