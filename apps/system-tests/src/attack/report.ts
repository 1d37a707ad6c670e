import type { LoadKind } from '../load/request-maker.js';
import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import { median } from '../measure/quantile.js';
import { maxUncounted, type AttackResult, type Stored, type Window } from './attack-bed.js';
import { attacks, type Attack } from './attacks.js';

const maxHoldingMegabytes = 1_024;
const maxFloodMegabytes = 400;
const maxFloodP95Ms = 100;
const maxStreamShare = 0.1;
const mebibyte = 1024 ** 2;

const loadNames: Record<LoadKind, string> = {
  notifications: 'platform messages',
  posts: 'events of other users',
  lists: 'lists of other users',
};
const loadKinds = Object.keys(loadNames) as LoadKind[]; // Safe cast: the keys of a Record

export function printSections(results: readonly AttackResult[], stored: Stored): Section[] {
  return [
    {
      title: 'Method',
      paragraphs: [
        'Strangers hold 5,000 connections, from one address or from 200 addresses with 25 connections each, and reopen a closed connection after 5 to 15 s. The floods, pipelined requests and small frames, hold few connections, which send as much as they can, and reopen a closed connection after 0.1 s. The last two attacks come from one user with the role `user` and the default limits. The connections of an attack open within 5 s. Meanwhile, another address sends 300 signed platform messages, 30 POST requests with an event, and 20 list requests per second, each due at a fixed time. Windows without and with the attack alternate; an attacked window begins with the attack. Latencies count from the time when a request was due. Attackers, load generator, services, and servers share the machine, so the attackers’ own work causes part of the added latency.',
        table(
          ['attack', 'what the attacker does'],
          attacks.map(({ name, description }) => [name, description]),
        ),
      ],
      promises: [],
    },
    {
      title: 'Results',
      paragraphs: [
        'p99 in ms without / with the attack, medians of the windows. "Lost" counts requests that were due in the attacked windows and failed, or still waited at the end of a window. "Responses" counts the first response on each connection of the last attacked window, or every response to a member. "closed" means that the gateway ended a connection without a response.',
        table(
          [
            'attack',
            'addresses',
            ...loadKinds.map((kind) => `p99 of ${loadNames[kind]}`),
            'sent',
            'lost',
            'open',
            'responses',
            'gateway MiB',
          ],
          results.map(printRow),
        ),
      ],
      promises: printPromises(results, stored),
    },
  ];
}

function printRow({
  attack,
  addresses,
  quiet,
  attacked,
  attackers,
  gatewayMegabytes,
}: AttackResult): string[] {
  const { open = 0, responses = {} } = attackers.at(-1) ?? {};
  return [
    attack.name,
    String(addresses),
    ...loadKinds.map((kind) => `${p99(quiet, kind)} / ${p99(attacked, kind)}`),
    formatCount(sum(attacked, (window) => succeeded(window, loadKinds))),
    formatCount(sum(attacked, (window) => lost(window, loadKinds))),
    formatCount(open),
    Object.entries(responses)
      .map(([action, counts]) => (attack.actions.length > 1 ? `${action}: ` : '') + printCounts(counts))
      .join('; '),
    formatCount(gatewayMegabytes),
  ];
}

function printPromises(results: readonly AttackResult[], stored: Stored): KeptPromise[] {
  const of = (kind: Attack['kind']): AttackResult[] => results.filter(({ attack }) => attack.kind === kind);
  const [holding, floods, members] = [of('holding'), of('flood'), of('member')];
  return [
    // Lists also depend on the events service, but these attacks hit only the gateway. Count writes only.
    ...losesNothing('attacks of strangers', [...holding, ...floods], ['notifications', 'posts']),
    ...losesNothing('a member is in a loop', members, loadKinds),
    {
      promise: 'Every accepted event is stored',
      measured: `${formatCount(stored.accepted)} accepted, ${formatCount(stored.stored)} stored (the last responses are not counted)`,
      isKept: stored.stored >= stored.accepted && stored.stored - stored.accepted <= maxUncounted,
    },
    ...keepsMemory('any other attack of strangers', holding, maxHoldingMegabytes),
    ...keepsMemory('a flood', floods, maxFloodMegabytes),
    ...(floods.length > 0 ? [staysFast(floods)] : []),
    ...(members.length > 0 ? staysSmall(stored) : []),
  ];
}

function losesNothing(
  when: string,
  results: readonly AttackResult[],
  kinds: readonly LoadKind[],
): KeptPromise[] {
  if (results.length === 0) return [];
  const windows = results.flatMap(({ attacked }) => attacked);
  const [sentCount, lostCount] = [
    sum(windows, (window) => succeeded(window, kinds)),
    sum(windows, (window) => lost(window, kinds)),
  ];
  return [
    {
      promise: `No request of other clients (${kinds.map((kind) => loadNames[kind]).join(', ')}) is lost during ${when}`,
      measured: `${formatCount(sentCount)} accepted, ${formatCount(lostCount)} refused, broken, or late`,
      isKept: sentCount > 0 && lostCount === 0,
    },
  ];
}

function keepsMemory(what: string, results: readonly AttackResult[], max: number): KeptPromise[] {
  if (results.length === 0) return [];
  const megabytes = Math.max(...results.map(({ gatewayMegabytes }) => gatewayMegabytes));
  return [
    {
      promise: `The gateway uses at most ${formatCount(max)} MiB during ${what}`,
      measured: `${formatCount(megabytes)} MiB`,
      isKept: megabytes <= max,
    },
  ];
}

function staysFast(floods: readonly AttackResult[]): KeptPromise {
  const windows = floods.flatMap(({ attacked }) => attacked);
  const p95 = Math.max(...windows.flatMap((window) => loadKinds.map((kind) => window[kind].latencyMs.p95)));
  return {
    promise: `The p95 of other clients is less than ${maxFloodP95Ms} ms during a flood`,
    measured: `at most ${p95.toFixed(1)} ms`,
    isKept: p95 < maxFloodP95Ms,
  };
}

function staysSmall({ memberBytes, maxMemberBytes, streamMaxBytes }: Stored): KeptPromise[] {
  const share = memberBytes / streamMaxBytes;
  return [
    {
      // Gateways exchange their counts every second, so a member can exceed the limit by the events of one second.
      promise: `A member in a loop stores at most the daily limit of ${formatCount(maxMemberBytes / mebibyte)} MiB, plus the member’s events of one second`,
      measured: `${(memberBytes / mebibyte).toFixed(1)} MiB`,
      isKept: memberBytes <= maxMemberBytes * 1.1,
    },
    {
      promise: `A member’s events fill at most ${maxStreamShare * 100} % of the EVENTS stream`,
      measured: `${(share * 100).toFixed(2)} %`,
      isKept: share <= maxStreamShare,
    },
  ];
}

function p99(windows: readonly Window[], kind: LoadKind): string {
  return median(windows.map((window) => window[kind].latencyMs.p99)).toFixed(1);
}

function succeeded(window: Window, kinds: readonly LoadKind[]): number {
  return kinds.reduce((total, kind) => total + window[kind].succeeded, 0);
}

/** Requests that failed, or were still waiting for a connection at the end of the window. */
function lost(window: Window, kinds: readonly LoadKind[]): number {
  const ofKind = ({ failed, backlog }: Window[LoadKind]): number =>
    Object.values(failed).reduce((total, count) => total + count, backlog);
  return kinds.reduce((total, kind) => total + ofKind(window[kind]), 0);
}

function sum(windows: readonly Window[], count: (window: Window) => number): number {
  return windows.reduce((total, window) => total + count(window), 0);
}

function printCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${formatCount(count)} × ${status}`)
    .join(', ');
}
