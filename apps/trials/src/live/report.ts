import { table } from '../measure/document.js';
import { printParts, printPromises, type PartReport } from '../measure/promise.js';

/** All that a run of the trial has found. */
export interface LiveReport {
  machine: Record<string, string>;
  date: string;
  minutes: number;
  parts: readonly PartReport[];
}

/** Prints `docs/live-trial.md`. */
export function printReport({ machine, date, minutes, parts }: LiveReport): string {
  return [
    '# Trial of live delivery',
    '',
    '<!-- Written by npm run live-trial: run it again instead of editing this. -->',
    '',
    `Run on ${date} by \`npm run live-trial\`, which wrote this page, in ${minutes} minutes. Servers, services and clients shared`,
    'one machine:',
    '',
    table(['machine', ''], Object.entries(machine)),
    '',
    'Two gateways and one events service, each a process of its own, with embedded PostgreSQL (durable) and nats-server.',
    '',
    '## Promises',
    '',
    printPromises(parts),
    ...printParts(parts),
    '',
  ].join('\n');
}
