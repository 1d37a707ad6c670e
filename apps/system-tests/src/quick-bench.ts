import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measure, type Pace } from './bench/measurement.js';
import type { Subject } from './bench/subject.js';
import { say } from './measure/progress.js';
import { printComparison, type PathName, type Runs } from './quick-bench/report.js';
import { cpuOf, joinRuns, toRun, type Run } from './quick-bench/run.js';
import { startSides, type Side } from './quick-bench/side.js';
import { LiveSubject, measureStart, startRequestSubject } from './quick-bench/subjects.js';

// npm run bench:quick -- --baseline FOLDER: alternates between this checkout and another built one, on the same PostgreSQL and nats-server,
// and looks for losses. --only PATH measures one path.

/**
 * Rounds by path. Each starts the services of both sides again, because two processes of the same build can differ by 10 % until they end.
 * Even numbers, because sides take turns to begin, and the one that begins a round needs more CPU: 7 % for live.
 */
const rounds: Readonly<Record<PathName, number>> = { pages: 6, webhook: 8, post: 8, live: 4, start: 4 };
// Warm-up: under load, V8 compiles hot code within a few seconds.
const firstRun = { warmUpSeconds: 0, seconds: 5 };
// The speed of a shared machine changes within a minute, so both sides take turns in short runs.
const shortRun = { warmUpSeconds: 0.5, seconds: 3 };
/** In this order, because later requests add events to the store. */
const requestKinds = { pages: 'lists', webhook: 'notifications', post: 'posts' } as const;
type RequestPath = keyof typeof requestKinds;

const { values: flags } = parseArgs({
  options: { baseline: { type: 'string' }, only: { type: 'string' } },
});
const names = Object.keys(rounds) as PathName[]; // Safe cast: the keys of a literal
const chosen = names.filter((name) => flags.only === undefined || flags.only === name);
if (flags.baseline === undefined) throw new Error('name a built checkout: --baseline FOLDER');
if (chosen.length === 0) throw new Error(`--only takes one of ${names.join(', ')}`);

const startedAt = performance.now();
const comparisons = new Map<PathName, Runs>(chosen.map((path) => [path, { own: [], baseline: [] }]));
const checkouts = { own: resolve('.'), baseline: resolve(flags.baseline) };
say('preparing the stores');
const { servers, sides } = await startSides(checkouts);

/** Measures both sides in turns: A B B A. */
async function alternate(path: PathName, measureSide: (side: Side) => Promise<Run>): Promise<void> {
  const runs: Runs = { own: [], baseline: [] };
  for (const side of [...sides, ...sides.toReversed()]) runs[side.name].push(await measureSide(side));
  for (const { name } of sides) note(path, name, joinRuns(runs[name]));
}

function note(path: PathName, side: Side['name'], run: Run): void {
  const runs = comparisons.get(path)?.[side];
  runs?.push(run);
  say(`${path}, round ${runs?.length}/${rounds[path]}, ${side}: ${describe(run)}`);
}

function describe({ perSecond, p99, failed, eventsPerBatch, ...run }: Run): string {
  const batches = eventsPerBatch === undefined ? '' : `, ${eventsPerBatch.toFixed(1)} events per batch`;
  return `${cpuOf(run).toFixed(1)} µs of CPU, ${perSecond.toFixed(1)}/s, p99 ${p99.toFixed(1)} ms, ${failed} failed${batches}`;
}

/** Starts both sides, measures the paths, and stops both sides. */
async function withBoth<Subject extends { stop(): Promise<void> }>(
  start: (side: Side) => Promise<Subject>,
  work: (subjectOf: (side: Side) => Subject) => Promise<void>,
): Promise<void> {
  const subjects = new Map<Side, Subject>();
  try {
    for (const side of sides) subjects.set(side, await start(side));
    await work((side) => {
      const subject = subjects.get(side);
      if (!subject) throw new Error(`${side.name} is not running`);
      return subject;
    });
  } finally {
    for (const subject of subjects.values()) await subject.stop();
  }
}

async function measureRequestPaths(paths: readonly RequestPath[]): Promise<void> {
  if (paths.length === 0) return;
  await withBoth(startRequestSubject, async (subjectOf) => {
    for (const path of paths) {
      const run = async (subject: Subject, pace: Pace): Promise<Run> =>
        toRun(await measure(subject, servers, { kind: requestKinds[path], connections: 64, ...pace }));
      for (const side of sides) await run(subjectOf(side), firstRun);
      await alternate(path, (side) => run(subjectOf(side), shortRun));
    }
  });
}

async function measureLive(): Promise<void> {
  await withBoth(
    (side) => LiveSubject.start(side, servers),
    async (subjectOf) => {
      for (const side of sides) await subjectOf(side).measure(firstRun);
      await alternate('live', (side) => subjectOf(side).measure(shortRun));
    },
  );
}

try {
  for (let round = 1; round <= Math.max(...chosen.map((path) => rounds[path])); round += 1) {
    const due = chosen.filter((path) => round <= rounds[path]);
    await measureRequestPaths(due.filter((path): path is RequestPath => path in requestKinds));
    if (due.includes('live')) await measureLive();
    if (due.includes('start'))
      for (const side of sides) note('start', side.name, await measureStart(side, servers));
    sides.reverse();
  }
  await printComparison(comparisons, checkouts, { servers, startedAt });
} finally {
  await servers.stop();
}
