import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startSubject } from './bench/subject.js';
import { say } from './measure/progress.js';
import { measureLive } from './quick-bench/live.js';
import { printComparison, type Comparison, type PathName } from './quick-bench/report.js';
import { measureRequests } from './quick-bench/requests.js';
import { cpuOf, type Run } from './quick-bench/run.js';
import { prepareSide, type Side } from './quick-bench/side.js';
import { measureStart } from './quick-bench/start-up.js';
import { startServers } from './system/servers.js';
import { startSystem } from './system/system.js';

// npm run bench:quick -- --baseline FOLDER: alternates between this checkout and another built one, on the same PostgreSQL and nats-server,
// looks for losses, and writes its part of docs/benchmarks.md. --only PATH measures one path, prints the result, and leaves the page
// unchanged.

/** Rounds by path. A round measures both sides, in the other order than the round before. */
const rounds: Readonly<Record<PathName, number>> = { pages: 5, webhook: 7, post: 7, live: 3, start: 3 };
/** Requests by path. Pages come first, before other requests have added events to the store. */
const requestKinds = { pages: 'lists', webhook: 'notifications', post: 'posts' } as const;

const { values: flags } = parseArgs({
  options: { baseline: { type: 'string' }, only: { type: 'string' } },
});
const names = Object.keys(rounds) as PathName[]; // Safe cast: the keys of a literal
const chosen = names.filter((name) => flags.only === undefined || flags.only === name);
if (flags.baseline === undefined) throw new Error('name a built checkout: --baseline FOLDER');
if (chosen.length === 0) throw new Error(`--only takes one of ${names.join(', ')}`);

const startedAt = performance.now();
const comparisons = new Map<PathName, Comparison>(chosen.map((name) => [name, { own: [], baseline: [] }]));

const servers = await startServers();

function note(path: PathName, side: Side, run: Run): void {
  const runs = comparisons.get(path)?.[side.name];
  runs?.push(run);
  const batch = run.eventsPerBatch === undefined ? '' : `, ${run.eventsPerBatch.toFixed(1)} events per batch`;
  say(
    `${path}, round ${runs?.length}/${rounds[path]}, ${side.name}: ${cpuOf(run).toFixed(1)} µs of CPU, ${run.perSecond.toFixed(1)}/s, p99 ${run.p99.toFixed(1)} ms, ${run.failed} failed${batch}`,
  );
}

/** Measures the chosen requests of a round on one system: its start takes as long as a measurement. */
async function runRequests(side: Side, paths: readonly (keyof typeof requestKinds)[]): Promise<void> {
  const { checkout } = side;
  const subject = await startSubject('1 + 1', servers, await side.createDatabase(), { checkout });
  try {
    for (const path of paths) note(path, side, await measureRequests(subject, servers, requestKinds[path]));
  } finally {
    await subject.stop();
  }
}

async function runLive(side: Side): Promise<void> {
  const { checkout } = side;
  const system = await startSystem(servers, await side.createDatabase(), {
    gateways: 1,
    events: 1,
    checkout,
  });
  try {
    note('live', side, await measureLive(system, servers));
  } finally {
    await system.stop();
  }
}

async function runRound(round: number, side: Side): Promise<void> {
  const due = chosen.filter((path) => round <= rounds[path]);
  const requests = due.filter((path) => path in requestKinds) as (keyof typeof requestKinds)[]; // Safe cast: just checked
  if (requests.length > 0) await runRequests(side, requests);
  if (due.includes('live')) await runLive(side);
  if (due.includes('start')) note('start', side, await measureStart(side, servers));
}

try {
  say('preparing the stores');
  const sides = [
    await prepareSide(servers, { name: 'own', checkout: resolve('.') }),
    await prepareSide(servers, { name: 'baseline', checkout: resolve(flags.baseline) }),
  ];
  for (let round = 1; round <= Math.max(...chosen.map((path) => rounds[path])); round += 1)
    for (const side of round % 2 === 1 ? sides : sides.toReversed()) await runRound(round, side);
  await printComparison(comparisons, {
    servers,
    startedAt,
    baseline: resolve(flags.baseline),
    isWhole: flags.only === undefined,
  });
} finally {
  await servers.stop();
}
