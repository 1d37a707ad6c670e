import { writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { ServerAddresses } from '../system/servers.js';
import { describeMachine } from './machine.js';

/** The description of a system test, for the top of its page. */
export interface SystemTest {
  title: string;
  /** The npm script that runs the test: `npm run <command>`. */
  command: string;
  /** The file name of the page in docs. */
  page: string;
  /** A paragraph about the running processes, and about what shares the machine. */
  setting: string;
}

/** A promise of the test, the measured value, and whether the promise is kept. */
export interface KeptPromise {
  promise: string;
  measured: string;
  isKept: boolean;
}

/** A section of the page. */
export interface Section {
  title: string;
  /** Paragraphs and tables in Markdown, in order, each without an empty line at its end. */
  paragraphs: readonly string[];
  promises: readonly KeptPromise[];
}

/** A finished run. */
export interface TestRun {
  /** The servers, whose versions the page shows. Undefined when the test describes the machine itself. */
  servers?: ServerAddresses;
  machine?: Readonly<Record<string, string>>;
  /** By `performance.now()`. */
  startedAt: number;
  sections: readonly Section[];
  /** Whether every part ran at its full size. Only such a run replaces the page. */
  isWhole: boolean;
}

/**
 * Prints the promises, then writes the page. If the run was not whole, prints the page instead. After a broken promise, the process exits
 * with code 1.
 */
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
    // A section may contain only promises.
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

/** Returns a table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Prints an integer with thousands separators. */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString('en');
}

/** Prints milliseconds as seconds with one decimal. */
export function formatSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
