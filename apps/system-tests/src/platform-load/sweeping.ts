import { setTimeout as wait } from 'node:timers/promises';
import { maxLookUp } from '@stream-events/contracts';
import { table } from '../measure/report.js';
import { cpuSeconds, memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type KeptPromise, type Section } from '../measure/report.js';
import { quantile } from '../measure/quantile.js';
import type { Look } from '../system/platform-tap.js';
import { runSql } from '../system/servers.js';
import type { PlatformBed } from './platform-bed.js';
import { measureGaps, splitSweeps, type Sweep } from './sweeps.js';

/** How often every streamer is looked at. */
const intervalMs = 45_000;
/** A batch takes along who is due within this time, so that it is full. */
const aheadMs = 5_000;
// What a busy machine and a call may take on top of that.
const limitMs = intervalMs + 5_000;
const streamsRoute = 'GET /helix/streams';
const claimed = 'streamer_monitor_polls_claimed_total';

interface Sweeping {
  sweeps: Sweep[];
  seconds: number;
  gaps: number[];
  /** Calls of the platform in the whole time, by its own count, and as the tap saw them. */
  requests: Record<string, number>;
  tapped: number;
  tooMany: number;
  /** Streamers that each monitor looked at, by its own word. */
  shares: number[];
  usage: [process: string, cpuPercent: number, megabytes: number][];
}

interface Killing {
  /** Until everybody had been looked at again. */
  ms: number | undefined;
  forgotten: number;
}

/** Watches whole sweeps over all streamers, then kills one monitor in the middle of one. */
export async function runSweeping(bed: PlatformBed): Promise<Section> {
  const streamers = await bed.client.listStreamers();
  const users = new Set(streamers.map(({ platformId }) => platformId));
  // Calls are full from the second sweep on: the first one is of those who have just been added.
  await wait(Math.max(0, (streamers.at(-1)?.createdAt ?? 0) + intervalMs - Date.now()));
  const sweeping = await watchSweeps(bed, users);
  for (const { calls, repeats, seconds } of sweeping.sweeps)
    say(`a sweep: ${calls} calls in ${seconds.toFixed(1)} s, ${repeats} streamers twice`);
  const killing = await killMonitor(bed, users);
  say(`one monitor killed: all looked at again after ${formatSeconds(killing.ms ?? Number.NaN)}`);
  return report(users.size, sweeping, killing);
}

async function watchSweeps(bed: PlatformBed, users: ReadonlySet<string>): Promise<Sweeping> {
  const { side, size } = bed;
  const before = await takeReading(bed);
  const looks = (): Look[] => side.tap.looks.slice(before.looks);
  await waitFor(() => (splitSweeps(looks(), users).length >= size.sweeps ? true : undefined), {
    limitMs: 2 * size.sweeps * intervalMs,
    everyMs: 500,
  });
  const after = await takeReading(bed);
  const seconds = (after.at - before.at) / 1_000;
  return {
    sweeps: splitSweeps(looks(), users),
    seconds,
    gaps: measureGaps(looks()),
    requests: subtract(after.requests, before.requests),
    tapped: after.looks - before.looks,
    tooMany: after.tooMany - before.tooMany,
    shares: after.claimed.map((count, index) => count - (before.claimed[index] ?? 0)),
    usage: Object.entries(subtract(after.cpu, before.cpu)).map(([name, cpu]) => [
      name,
      (cpu / seconds) * 100,
      after.megabytes[name] ?? Number.NaN,
    ]),
  };
}

/** Everything that is counted, at this moment. */
async function takeReading({ platform, side, processes }: PlatformBed) {
  const mapPids = (read: (pid: number) => number): Record<string, number> =>
    Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, read(pid)]));
  return {
    requests: await platform.readRequests(),
    claimed: await Promise.all(side.monitors.map((monitor) => monitor.metric(claimed))),
    tooMany: side.tap.statuses.get(429) ?? 0,
    cpu: mapPids(cpuSeconds),
    megabytes: mapPids(memoryMegabytes),
    looks: side.tap.looks.length,
    at: performance.now(),
  };
}

/** What was counted between two readings; what was not is left out. */
function subtract(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const differences = Object.entries(after).map(
    ([name, count]) => [name, count - (before[name] ?? 0)] as const,
  );
  return Object.fromEntries(differences.filter(([, difference]) => difference > 0));
}

async function killMonitor({ side, databaseUrl }: PlatformBed, users: ReadonlySet<string>): Promise<Killing> {
  const [, monitor] = side.monitors;
  if (!monitor) throw new Error('there is no second monitor to kill');
  const before = side.tap.looks.length;
  const isHalfway = (): boolean => countUsers(side.tap.looks.slice(before)) >= users.size / 2;
  await waitFor(() => isHalfway() || undefined, { limitMs: 2 * intervalMs, everyMs: 50 });
  await monitor.kill('SIGKILL');
  const killedAt = new Date().toISOString();
  const startedAt = performance.now();
  const countForgotten = async (): Promise<number> => {
    const [row] = await runSql<{ count: number }>(
      databaseUrl,
      `SELECT count(*)::int AS count FROM streamer_monitor.streamers
       WHERE NOT disabled AND (polled_at IS NULL OR polled_at < '${killedAt}')`,
    );
    return row?.count ?? users.size;
  };
  const everyone = await waitFor(async () => ((await countForgotten()) === 0 ? true : undefined), {
    limitMs: 2 * intervalMs,
    everyMs: 500,
  });
  const ms = everyone ? performance.now() - startedAt : undefined;
  const forgotten = await countForgotten();
  await monitor.start();
  return { ms, forgotten };
}

function report(streamers: number, sweeping: Sweeping, killing: Killing): Section {
  const { seconds, requests, usage } = sweeping;
  return {
    title: 'Sweeps',
    paragraphs: [
      `All ${formatCount(streamers)} streamers are polled every ${intervalMs / 1_000} s by two streamer monitors, 100 in a call. A tap between the connectors and the platform wrote down every call: a sweep is from a call until every streamer has been looked at once. Who becomes due within ${aheadMs / 1_000} s is taken along, so that calls stay full.`,
      `Calls of the platform in ${seconds.toFixed(0)} s, by the platform's own count:`,
      table(
        ['call', 'count'],
        Object.entries(requests).map(([route, count]) => [route, formatCount(count)]),
      ),
      'The processes meanwhile:',
      table(
        ['process', 'CPU, of one core', 'memory of its own'],
        usage.map(([name, cpu, megabytes]) => [name, `${cpu.toFixed(1)} %`, `${megabytes.toFixed(0)} MiB`]),
      ),
    ],
    promises: [...promiseSweeps(streamers, sweeping), ...promiseShares(sweeping), promiseKilling(killing)],
  };
}

function promiseSweeps(streamers: number, { sweeps, gaps, requests, tapped }: Sweeping): KeptPromise[] {
  const batches = Math.ceil(streamers / maxLookUp);
  const counts = `${formatCount(requests[streamsRoute] ?? 0)} by the platform's count, ${formatCount(tapped)} by the tap's`;
  const [shortest, longest] = [quantile(gaps, 0), quantile(gaps, 1)];
  return [
    {
      promise: `A sweep over ${formatCount(streamers)} streamers takes ${batches} calls`,
      measured: `${sweeps.map(({ calls }) => calls).join(', ')} calls; ${counts}`,
      isKept: sweeps.length > 0 && sweeps.every(({ calls }) => calls === batches),
    },
    {
      promise: `No streamer is looked at twice in a sweep, nor sooner than ${(intervalMs - aheadMs) / 1_000} s after the last time, nor later than ${limitMs / 1_000} s`,
      measured: `${sweeps.map(({ repeats }) => repeats).join(', ')} twice; ${formatSeconds(shortest)} to ${formatSeconds(longest)}`,
      isKept:
        sweeps.every(({ repeats }) => repeats === 0) &&
        shortest >= intervalMs - aheadMs &&
        longest <= limitMs,
    },
  ];
}

function promiseShares({ shares, requests, seconds, tooMany }: Sweeping): KeptPromise[] {
  const calls = Object.values(requests).reduce((total, count) => total + count, 0);
  return [
    {
      promise: 'Both monitors take part',
      measured: `${shares.map(formatCount).join(' and ')} streamers looked at`,
      isKept: shares.every((share) => share > 0),
    },
    {
      promise: 'The rate limit of 800 calls a minute is kept',
      measured: `${formatCount(Math.round((calls / seconds) * 60))} calls a minute, ${tooMany} answered 429`,
      isKept: tooMany === 0,
    },
  ];
}

function promiseKilling({ ms, forgotten }: Killing): KeptPromise {
  const time = ms === undefined ? 'not all' : `all after ${formatSeconds(ms)}`;
  return {
    promise: `One monitor is killed (SIGKILL) in the middle of a sweep: everybody has been looked at again within ${limitMs / 1_000} s, nobody is forgotten`,
    measured: `${time}, ${formatCount(forgotten)} forgotten`,
    isKept: ms !== undefined && ms <= limitMs && forgotten === 0,
  };
}

function countUsers(looks: readonly Look[]): number {
  return new Set(looks.flatMap(({ userIds }) => userIds)).size;
}
