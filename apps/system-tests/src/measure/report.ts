import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { ServerAddresses } from '../system/servers.js';
import { describeMachine } from './machine.js';

/** Describes a system test at the top of its page. */
export interface SystemTest {
  title: string;
  /** npm script, for `npm run <command>`. */
  command: string;
  /** File name in docs. */
  page: string;
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
  /** The page shows their versions. Undefined if the test provides `machine`. */
  servers?: ServerAddresses;
  machine?: Readonly<Record<string, string>>;
  /** From `performance.now()`. */
  startedAt: number;
  sections: readonly Section[];
  /** Whether every part ran at full size. Only such a run replaces the page. */
  isWhole: boolean;
}

/** Prints the promises, then writes the page. Prints the page instead if the run is not whole. A broken promise sets the exit code to 1. */
export async function report(test: SystemTest, run: TestRun): Promise<void> {
  const { sections, isWhole } = run;
  process.stdout.write(`\n${printPromises(sections)}\n\n`);
  const page = await printPage(test, run);
  if (isWhole) await writePage(`docs/${test.page}`, page);
  else process.stdout.write(page);
  if (sections.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
}

async function printPage(
  { title, command, setting }: SystemTest,
  { servers, machine, startedAt, sections }: TestRun,
): Promise<string> {
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const date = new Date().toISOString().slice(0, 10);
  const paragraphs = [
    `# ${title}`,
    `<!-- Written by npm run ${command}: run it again instead of editing this page. -->`,
    `\`npm run ${command}\` wrote this page on ${date}, in ${minutes} minutes.`,
    setting,
    table(['machine', ''], Object.entries({ ...(servers && (await describeMachine(servers))), ...machine })),
    '## Promises',
    printPromises(sections),
    // Skip sections that have only promises.
    ...sections.flatMap(({ title: heading, paragraphs: texts }) =>
      texts.length > 0 ? [`## ${heading}`, ...texts] : [],
    ),
  ];
  return `${paragraphs.join('\n\n')}\n`;
}

function printPromises(sections: readonly Section[]): string {
  const rows = sections.flatMap(({ promises }) =>
    promises.map(({ promise, measured, isKept }) => [promise, measured, isKept ? 'met' : '**not met**']),
  );
  return table(['promise', 'measured', ''], rows);
}

async function writePage(path: string, markdown: string): Promise<void> {
  await writeFile(path, await format(markdown, { ...(await resolveConfig(path)), parser: 'markdown' }));
}

/** Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Integer with thousands separators. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** Seconds with one decimal. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
