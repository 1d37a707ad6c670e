import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import type { LoadKind } from '../load/request-maker.js';
import type { MemberResult } from './attack-bed.js';
import { memberAttacks } from './members.js';
import { lost, p99, succeeded, sum } from './windows.js';

const maxShare = 0.1;
const mebibyte = 1024 ** 2;

const loads: Record<LoadKind, string> = {
  notifications: 'platform messages',
  posts: 'events of another user',
  lists: 'lists of another user',
};
const kinds = Object.keys(loads) as LoadKind[]; // Safe cast: the keys of a Record

/** The page's section about members who send as many requests as the gateway accepts. */
export function printMemberSection(results: readonly MemberResult[]): Section {
  return {
    title: 'Members',
    paragraphs: [
      'One user with the role `user` and the default limits attacks from a separate address:',
      table(
        ['attack', 'what the member does'],
        memberAttacks.map(({ name, description }) => [name, description]),
      ),
      'p99 in ms, median of the windows. "Lost" counts requests that were due in the attacked windows and failed, or still waited at the end of a window. "Beside" has the same meaning as above, and is measured only for a member whose requests the gateway mostly refuses:',
      table(
        ['attack', 'load', 'p99 quiet', 'p99 beside', 'p99 attacked', 'ratio', 'sent', 'lost'],
        results.flatMap((result) => kinds.map((kind) => printLoad(result, kind))),
      ),
      'Responses to the member, by status:',
      table(
        ['attack', 'request', 'responses'],
        results.flatMap(({ attack, responses }) =>
          Object.entries(responses).map(([action, counts]) => [attack.name, action, printCounts(counts)]),
        ),
      ),
    ],
    promises: printPromises(results),
  };
}

function printLoad({ attack, quiet, beside, attacked }: MemberResult, kind: LoadKind): string[] {
  return [
    attack.name,
    loads[kind],
    p99(quiet, kind).toFixed(1),
    beside.length === 0 ? '' : p99(beside, kind).toFixed(1),
    p99(attacked, kind).toFixed(1),
    (p99(attacked, kind) / p99(quiet, kind)).toFixed(2),
    formatCount(sum(attacked, (window) => succeeded(window, [kind]))),
    formatCount(sum(attacked, (window) => lost(window, [kind]))),
  ];
}

function printPromises(results: readonly MemberResult[]): KeptPromise[] {
  const lostCount = results.reduce(
    (total, { attacked }) => total + sum(attacked, (window) => lost(window, kinds)),
    0,
  );
  const stored = Math.max(...results.map(({ storedBytes }) => storedBytes));
  const limit = Math.max(...results.map(({ maxStoredBytes }) => maxStoredBytes));
  const share = Math.max(...results.map(({ storedBytes, streamMaxBytes }) => storedBytes / streamMaxBytes));
  return [
    {
      promise: 'No request of other users fails while a member is in a loop',
      measured: `${formatCount(lostCount)} refused, broken, or late`,
      isKept: lostCount === 0,
    },
    {
      // Gateways exchange their counts every second, so a member can exceed the limit by the events of one second.
      promise: `A member in a loop stores at most the daily limit of ${formatCount(limit / mebibyte)} MiB, plus the member’s events of one second`,
      measured: `${(stored / mebibyte).toFixed(1)} MiB`,
      isKept: stored <= limit * 1.1,
    },
    {
      promise: `A member’s events fill at most ${maxShare * 100} % of the EVENTS stream`,
      measured: `${(share * 100).toFixed(2)} %`,
      isKept: share <= maxShare,
    },
  ];
}

function printCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([status, count]) => `${formatCount(count)} × ${status}`)
    .join(', ');
}
