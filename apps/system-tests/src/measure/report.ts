import type { ServerAddresses } from '../system/servers.js';
import { describeMachine, describeServers } from './machine.js';

/** Describes a system test at the top of its report. */
export interface SystemTest {
  title: string;
  /** npm script, for `npm run <command>`. */
  command: string;
  /** Which processes run, and what shares the machine. */
  setting: string;
}

/** What the test promises, what it measured, and whether the promise is kept. */
export interface KeptPromise {
  promise: string;
  measured: string;
  isKept: boolean;
}

export interface Section {
  title: string;
  /** Markdown paragraphs and tables, without trailing empty lines. */
  paragraphs: readonly string[];
  promises: readonly KeptPromise[];
}

export interface TestRun {
  /** The report shows their versions. */
  servers?: ServerAddresses;
  /** Other facts about the machine. */
  machine?: Readonly<Record<string, string>>;
  /** From `performance.now()`. */
  startedAt: number;
  sections: readonly Section[];
}

/** Prints the report as Markdown. A broken promise sets the exit code to 1. */
export async function report(
  { title, command, setting }: SystemTest,
  { servers, machine, startedAt, sections }: TestRun,
): Promise<void> {
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const date = new Date().toISOString().slice(0, 10);
  const paragraphs = [
    `# ${title}`,
    `\`npm run ${command}\`, ${date}, ${minutes} minutes.`,
    setting,
    table(
      ['machine', ''],
      Object.entries({
        ...describeMachine(),
        ...(servers && (await describeServers(servers))),
        ...machine,
      }),
    ),
    ...printPromises(sections),
    // Skip sections that have only promises.
    ...sections.flatMap(({ title: heading, paragraphs: texts }) =>
      texts.length > 0 ? [`## ${heading}`, ...texts] : [],
    ),
  ];
  process.stdout.write(`\n${paragraphs.join('\n\n')}\n`);
  if (sections.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
}

function printPromises(sections: readonly Section[]): string[] {
  const rows = sections.flatMap(({ promises }) =>
    promises.map(({ promise, measured, isKept }) => [promise, measured, isKept ? 'met' : '**not met**']),
  );
  return rows.length > 0 ? ['## Promises', table(['promise', 'measured', ''], rows)] : [];
}

/** Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const lines = [line(head), line(head.map(() => '---')), ...rows.map(line)];
  return lines.join('\n').replaceAll('  ', ' '); // an empty cell has one space
}

/** Integer with thousands separators. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** Seconds with one decimal. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

export function formatMs(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

/** Microseconds with one decimal below 100, or seconds from 0.1 s on. */
export function formatMicroseconds(microseconds: number): string {
  if (microseconds >= 100_000) return `${(microseconds / 1e6).toFixed(2)} s`;
  return `${microseconds.toFixed(microseconds < 100 ? 1 : 0)} µs`;
}
