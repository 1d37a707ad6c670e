import { table } from '../measure/document.js';
import { median, quantile } from '../measure/quantile.js';
import type { Finding } from './checker.js';
import type { Scenario } from './scenarios.js';
import type { ScenarioResult } from './test-bed.js';

/** All that a run of the trial has found. */
export interface FaultReport {
  machine: Record<string, string>;
  date: string;
  minutes: number;
  scenarios: readonly Scenario[];
  results: readonly ScenarioResult[];
  /** The list as clients get it, all of it at the end. */
  list: { events: number; findings: readonly Finding[] };
}

// Enough to look the events up; a lost batch has up to 256.
const maxExamples = 5;

/** Prints `docs/chaos.md`. */
export function printReport(report: FaultReport): string {
  const { list, results } = report;
  return [
    '# Faults',
    '',
    '<!-- Written by npm run chaos: run it again instead of editing this. -->',
    '',
    `Run on ${report.date} by \`npm run chaos\`, which wrote this page, in ${report.minutes} minutes. Servers, services and load shared one machine:`,
    '',
    table(['machine', ''], Object.entries(report.machine)),
    '',
    '## What is done',
    '',
    'Two gateways and two events services, each a process of its own, with embedded PostgreSQL (durable) and nats-server.',
    '16 clients send 320 events a second: signed notifications, which are delivered again like the platform does; POSTs with',
    'an `Idempotency-Key`, which are sent again; and POSTs without, which are not. Answers are waited for 5 s, tries are five,',
    'in turn at each gateway. The sender writes down for each event:',
    '',
    '- **accepted**: a try was answered 2xx',
    '- **refused**: every try was answered 4xx, or reached nobody',
    '- **in doubt**: a try was answered 503 or not at all, and none was answered 2xx',
    '',
    'After each scenario everything comes to rest, and everything is compared: every accepted event is stored exactly once,',
    'under the id that its 201 told, as it was sent; one in doubt at most once; a refused one not at all; nothing else is',
    'there; and the EVENTS stream has every one of them, the same to the last byte. Copies are messages on the stream beyond',
    'the first of an event, which a reader leaves out by `Nats-Msg-Id`.',
    '',
    table(
      ['scenario', 'what happens'],
      report.scenarios.map(({ name, description }) => [name, description]),
    ),
    '',
    '## Results',
    '',
    '**Requests again**: from the restart (or the end of the stop) until notifications and POSTs have succeeded at each',
    'gateway, the start of the process included. **Published**: until everything accepted by then was stored and on the',
    'stream. Median / maximum, in seconds.',
    '',
    printSummary(results),
    '',
    printList(list),
    ...printFindings(report),
    '',
  ].join('\n');
}

/** The table of results. */
export function printSummary(results: readonly ScenarioResult[]): string {
  const rows = results.map((result) => [
    result.name,
    String(result.faults),
    ...(['accepted', 'refused', 'in doubt'] as const).map((outcome) => formatCount(result.outcomes[outcome])),
    formatTimes(result.requestsMs),
    formatTimes(result.publishedMs),
    formatCount(result.copies),
    result.findings.length === 0 ? 'as promised' : `**${result.findings.length} findings**`,
  ]);
  const head = [
    'scenario',
    'faults',
    'accepted',
    'refused',
    'in doubt',
    'requests again',
    'published',
    'copies',
  ];
  return table([...head, 'check'], rows);
}

/** What was found, by kind, with some examples of each. */
export function summarize(findings: readonly Finding[]): string[] {
  const byKind = new Map<string, string[]>();
  for (const { kind, what } of findings) byKind.set(kind, [...(byKind.get(kind) ?? []), what]);
  return [...byKind].map(([kind, examples]) => {
    const more = examples.length > maxExamples ? ', …' : '';
    return `${examples.length} × ${kind}: ${examples.slice(0, maxExamples).join(', ')}${more}`;
  });
}

/** Answers of all kinds, for the progress. */
export function printAnswers({ answers }: ScenarioResult): string {
  return Object.entries(answers)
    .map(([answer, count]) => `${count} × ${answer}`)
    .join(', ');
}

function printFindings({ results, list }: FaultReport): string[] {
  const lines = [...results, { name: 'list', findings: list.findings }].flatMap(({ name, findings }) =>
    summarize(findings).map((line) => `- ${name}: ${line}`),
  );
  return lines.length === 0 ? [] : ['', '## Findings', '', ...lines];
}

function printList({ events, findings }: FaultReport['list']): string {
  const outcome = findings.length === 0 ? 'as promised' : `**${findings.length} findings**`;
  return `At the end, the whole list through the API, ${formatCount(events)} events by following \`next\`: ${outcome}.`;
}

function formatCount(count: number): string {
  return count.toLocaleString('en');
}

function formatTimes(times: readonly number[]): string {
  if (times.length === 0) return '';
  const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
  return `${seconds(median(times))} / ${seconds(quantile(times, 1))}`;
}
