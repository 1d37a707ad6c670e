import type { Servers } from '../system/servers.js';
import { table, writeDocument } from './document.js';
import { describeMachine } from './machine.js';
import { printParts, printPromises, type PartReport } from './promise.js';

/** A trial, as its page introduces it. */
export interface Trial {
  title: string;
  /** The script of `npm run`; the page is `docs/<command>.md`. */
  command: string;
  /** Ends the sentence that begins with when and how long it was run: what shared the machine. */
  sharers: string;
  /** A paragraph: the processes that were on trial. */
  setting: string;
}

/** A run of a trial that has come to its end. */
export interface TrialRun {
  servers: Servers;
  /** By `performance.now()`. */
  startedAt: number;
  parts: readonly PartReport[];
  /** Whether all of it was run, at its full size. */
  isWhole: boolean;
}

/**
 * Prints what was promised, and writes the page, or prints it after a run that was not whole. A promise that is not kept
 * makes the process fail.
 */
export async function reportTrial(trial: Trial, run: TrialRun): Promise<void> {
  const { parts } = run;
  process.stdout.write(`\n${printPromises(parts)}\n\n`);
  const page = await printPage(trial, run);
  if (run.isWhole) await writeDocument(`docs/${trial.command}.md`, page);
  else process.stdout.write(page);
  if (parts.some(({ promises }) => promises.some(({ isKept }) => !isKept))) process.exitCode = 1;
}

async function printPage(
  { title, command, sharers, setting }: Trial,
  { servers, startedAt, parts }: TrialRun,
): Promise<string> {
  const minutes = Math.ceil((performance.now() - startedAt) / 60_000);
  const date = new Date().toISOString().slice(0, 10);
  return [
    `# ${title}`,
    '',
    `<!-- Written by npm run ${command}: run it again instead of editing this. -->`,
    '',
    `Run on ${date} by \`npm run ${command}\`, which wrote this page, in ${minutes} minutes. ${sharers}`,
    '',
    table(['machine', ''], Object.entries(await describeMachine(servers))),
    '',
    setting,
    '',
    '## Promises',
    '',
    printPromises(parts),
    ...printParts(parts),
    '',
  ].join('\n');
}
