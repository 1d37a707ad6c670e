import { table } from '../measure/document.js';
import { printParts, printPromises, type PartReport } from '../measure/promise.js';

/** All that a run of the trial has found. */
export interface PlatformReport {
  machine: Record<string, string>;
  date: string;
  minutes: number;
  parts: readonly PartReport[];
}

/** Prints `docs/platform-trial.md`. */
export function printReport({ machine, date, minutes, parts }: PlatformReport): string {
  return [
    '# Trial of the platform side',
    '',
    '<!-- Written by npm run platform-trial: run it again instead of editing this. -->',
    '',
    `Run on ${date} by \`npm run platform-trial\`, which wrote this page, in ${minutes} minutes. Servers, services, the simulated`,
    'platform and the load shared one machine:',
    '',
    table(['machine', ''], Object.entries(machine)),
    '',
    'One gateway, one events service, two platform connectors and two streamer monitors, each a process of its own, with',
    'embedded PostgreSQL (durable) and nats-server, on the simulated platform over HTTP.',
    '',
    '## Promises',
    '',
    printPromises(parts),
    ...printParts(parts),
    '',
  ].join('\n');
}
