import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { connectionsPerLoad, loadCount, type AttackResult, type MemberResult } from './attack-bed.js';
import { attacks, type AttackSize } from './attacks.js';
import { printMemberSection } from './member-report.js';
import { lost, p99, succeeded, sum, worstP95, type Window } from './windows.js';

export interface AttackTestResults {
  results: readonly AttackResult[];
  members: readonly MemberResult[];
  /** Event counts. */
  events: { accepted: number; stored: number };
}

const maxMegabytes = 1_024;
const maxFloodP95Ms = 100;
const maxFloodMegabytes = 400;

export function printSections({ results, members, events }: AttackTestResults): Section[] {
  return [
    {
      title: 'Method',
      paragraphs: [
        'Most attacks hold 5,000 connections, from one address or from 200 addresses with 25 connections each. The attacker reopens a closed connection after 5 to 15 s. The floods, pipelined requests and small frames, hold few connections, which send as much as they can; the attacker reopens a closed connection after 0.1 s. The connections of an attack open within 5 s. Meanwhile, another address sends 300 signed platform messages, 30 POST requests with an event, and 20 list requests per second, each due at a fixed time. Windows without and with the attack alternate; an attacked window begins with the attack. Latencies count from the time when a request was due. Attackers, load generator, services, and servers share the machine, so the attackers’ own work causes part of the added latency. To show this part, the same attackers also attack a bare Node server, which refuses every request, while the gateway gets only the load. "Beside" is the p99 of the load at the gateway during such an attack.',
        table(
          ['attack', 'each connection'],
          attacks.map(({ name, description }) => [name, description]),
        ),
      ],
      promises: [],
    },
    {
      title: 'Results',
      paragraphs: [
        'p99 in ms, median of the windows. "Ends" counts the connections that the gateway ended in the last window, by the status of the response. "closed" means that the gateway sent no response.',
        table(
          [
            'attack',
            'addresses',
            'p99 quiet',
            'p99 beside',
            'p99 attacked',
            'ratio',
            'sent',
            'lost',
            'open',
            'ends',
            'gateway MiB',
          ],
          results.map(printRow),
        ),
      ],
      promises: printPromises(results, events),
    },
    ...(members.length > 0 ? [printMemberSection(members)] : []),
  ];
}

function printRow(result: AttackResult): string[] {
  const { attack, size, quiet, beside, attacked, attackers, gatewayMegabytes } = result;
  const { open = 0, ends = {} } = attackers.at(-1) ?? {};
  return [
    attack.name,
    printSize(size),
    p99(quiet, 'notifications').toFixed(1),
    p99(beside, 'notifications').toFixed(1),
    p99(attacked, 'notifications').toFixed(1),
    ratioOf(result).toFixed(2),
    formatCount(sum(attacked, countSucceeded)),
    formatCount(sum(attacked, countLost)),
    formatCount(open),
    printCounts(ends),
    formatCount(gatewayMegabytes),
  ];
}

function printPromises(
  results: readonly AttackResult[],
  { accepted, stored }: AttackTestResults['events'],
): KeptPromise[] {
  const isStored = {
    promise: 'Every accepted event is stored',
    measured: `${formatCount(accepted)} accepted, ${formatCount(stored)} stored (the last responses are not counted)`,
    isKept: stored >= accepted && stored - accepted <= loadCount * connectionsPerLoad,
  };
  if (results.length === 0) return [isStored];
  const floods = results.filter(({ attack }) => attack.flood !== undefined);
  const holding = results.filter(({ attack }) => attack.flood === undefined);
  const lostCount = results.reduce((total, { attacked }) => total + sum(attacked, countLost), 0);
  const sentCount = results.reduce((total, { attacked }) => total + sum(attacked, countSucceeded), 0);
  return [
    {
      promise: 'No signed message or event from another address is lost during any attack',
      measured: `${formatCount(sentCount)} accepted, ${formatCount(lostCount)} refused, broken, or late`,
      isKept: sentCount > 0 && lostCount === 0,
    },
    isStored,
    ...(holding.length > 0 ? [keepsMemory('any other attack', holding, maxMegabytes)] : []),
    ...(floods.length > 0 ? printFloodPromises(floods) : []),
  ];
}

function printFloodPromises(results: readonly AttackResult[]): KeptPromise[] {
  const worst = Math.max(...results.map(({ attacked }) => worstP95(attacked)));
  return [
    {
      promise: `The p95 of other clients is less than ${maxFloodP95Ms} ms during a flood`,
      measured: `at most ${worst.toFixed(1)} ms`,
      isKept: worst < maxFloodP95Ms,
    },
    keepsMemory('a flood', results, maxFloodMegabytes),
  ];
}

function keepsMemory(what: string, results: readonly AttackResult[], max: number): KeptPromise {
  const megabytes = Math.max(...results.map(({ gatewayMegabytes }) => gatewayMegabytes));
  return {
    promise: `The gateway uses at most ${formatCount(max)} MiB during ${what}`,
    measured: `${formatCount(megabytes)} MiB`,
    isKept: megabytes <= max,
  };
}

function printSize({ addresses, perAddress }: AttackSize): string {
  return `${addresses} × ${formatCount(perAddress)}`;
}

function ratioOf({ quiet, attacked }: AttackResult): number {
  return p99(attacked, 'notifications') / p99(quiet, 'notifications');
}

// Lists also depend on the events service, but the attacks hit only the gateway. Count writes only.
const written = ['notifications', 'posts'] as const;
const countSucceeded = (window: Window): number => succeeded(window, written);
const countLost = (window: Window): number => lost(window, written);

function printCounts(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).map(([name, count]) => `${formatCount(count)} ${name}`);
  return entries.length === 0 ? 'none' : entries.join(', ');
}
