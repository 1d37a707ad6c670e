import { readFile, writeFile } from 'node:fs/promises';
import { format, resolveConfig } from 'prettier';
import type { ServerAddresses } from '../system/servers.js';
import { describeMachine, describeServers } from './machine.js';

/** Describes a system test at the top of its page. */
export interface SystemTest {
  title: string;
  /** npm script, for `npm run <command>`. */
  command: string;
  /** File name in docs. */
  page: string;
  /** Whether the test writes a part at the end of another test's page. Default: a whole page. */
  isPart?: boolean;
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
  /** The page shows their versions. */
  servers?: ServerAddresses;
  /** Other facts about the machine. */
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
  if (isWhole) await writePage(test, page);
  else process.stdout.write(page);
  if (sections.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
}

async function printPage(
  { title, command, setting, isPart = false }: SystemTest,
  { servers, machine, startedAt, sections }: TestRun,
): Promise<string> {
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const date = new Date().toISOString().slice(0, 10);
  const level = isPart ? '##' : '#';
  const paragraphs = [
    `${level} ${title}`,
    `${markOf(command)} run it again instead of editing this ${isPart ? 'part' : 'page'}. -->`,
    `\`npm run ${command}\` wrote this ${isPart ? 'part' : 'page'} on ${date}, in ${minutes} minutes.`,
    setting,
    table(
      ['machine', ''],
      Object.entries({
        ...describeMachine(),
        ...(servers && (await describeServers(servers))),
        ...machine,
      }),
    ),
    `${level}# Promises`,
    printPromises(sections),
    // Skip sections that have only promises.
    ...sections.flatMap(({ title: heading, paragraphs: texts }) =>
      texts.length > 0 ? [`${level}# ${heading}`, ...texts] : [],
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

function markOf(command: string): string {
  return `<!-- Written by npm run ${command}:`;
}

/** Replaces the page, or this test's part of it. Keeps what other tests wrote into the page. */
async function writePage({ page, command, isPart = false }: SystemTest, markdown: string): Promise<void> {
  const path = `docs/${page}`;
  const old = await readFile(path, 'utf8').catch(() => ''); // a new page
  // Each test's text starts with a heading and the mark.
  const others = old
    .split(/^(?=#+ .*\n\n<!-- Written by npm run )/m)
    .filter((text) => !text.includes(markOf(command)));
  const texts = isPart ? [...others, markdown] : [markdown, ...others];
  const options = { ...(await resolveConfig(path)), parser: 'markdown' };
  await writeFile(path, await format(texts.join('\n'), options));
}

/** A promise that a measured number, by default a ratio, is at least as high as a goal. */
export function atLeast(
  promise: string,
  measured: number,
  goal: number,
  print: (measured: number) => string = formatRatio,
): KeptPromise {
  return { promise, measured: print(measured), isKept: measured >= goal };
}

/** A promise that a measured number, by default a ratio, is at most as high as a goal. */
export function atMost(
  promise: string,
  measured: number,
  goal: number,
  print: (measured: number) => string = formatRatio,
): KeptPromise {
  return { promise, measured: print(measured), isKept: measured <= goal };
}

function formatRatio(ratio: number): string {
  return `${ratio.toFixed(2)} ×`;
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

export function formatMs(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

/** Microseconds with one decimal below 100, or seconds from 0.1 s on. */
export function formatMicroseconds(microseconds: number): string {
  if (microseconds >= 100_000) return `${(microseconds / 1e6).toFixed(2)} s`;
  return `${microseconds.toFixed(microseconds < 100 ? 1 : 0)} µs`;
}
