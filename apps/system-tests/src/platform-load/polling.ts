import { setTimeout as wait } from 'node:timers/promises';
import { maxLookUp } from '@stream-events/contracts';
import { table } from '../measure/report.js';
import { cpuSeconds, memoryMegabytes } from '../measure/processes.js';
import { say, waitFor } from '../measure/progress.js';
import { formatCount, formatSeconds, type KeptPromise, type Section } from '../measure/report.js';
import { quantile } from '../measure/quantile.js';
import type { LookUp } from '../system/platform-tap.js';
import { runSql } from '../system/servers.js';
import type { PlatformBed } from './platform-bed.js';
import { measureGaps, splitPasses, type PollingPass } from './polling-passes.js';

/** The monitor's poll interval. */
const pollIntervalMs = 45_000;
/** Polls also include streamers that are due within this time, which keeps batches full. */
const pollAheadMs = 5_000;
// Time limit for a polling pass: the interval, plus 5 s for the call and a busy machine.
const limitMs = pollIntervalMs + 5_000;
const streamsRoute = 'GET /helix/streams';
const claimed = 'streamer_monitor_polls_claimed_total';

interface Polling {
  passes: PollingPass[];
  seconds: number;
  gaps: number[];
  /** Calls to the platform, counted by the platform (`requests`) and by the tap (`tapped`). */
  requests: Record<string, number>;
  tapped: number;
  tooMany: number;
  /** Streamers that each monitor polled, from the monitor's metric. */
  shares: number[];
  usage: [process: string, cpuPercent: number, megabytes: number][];
}

interface Killing {
  /** Time until every streamer was polled again. Undefined if the limit passed first. */
  ms: number | undefined;
  unpolled: number;
}

/** Watches polling passes over all streamers, then kills a monitor during a pass. */
export async function runPolling(bed: PlatformBed): Promise<Section> {
  const streamers = await bed.client.listStreamers();
  const users = new Set(streamers.map(({ platformId }) => platformId));
  // Skip the first pass: it polls streamers as they are added, so its calls are not full.
  await wait(Math.max(0, (streamers.at(-1)?.createdAt ?? 0) + pollIntervalMs - Date.now()));
  const polling = await watchPasses(bed, users);
  for (const { calls, repeats, seconds } of polling.passes)
    say(`polling pass: ${calls} calls in ${seconds.toFixed(1)} s, ${repeats} streamers twice`);
  const killing = await killMonitor(bed, users);
  say(`killed one monitor: every streamer polled again after ${formatSeconds(killing.ms ?? Number.NaN)}`);
  return report(users.size, polling, killing);
}

async function watchPasses(bed: PlatformBed, users: ReadonlySet<string>): Promise<Polling> {
  const { side, size } = bed;
  const before = await takeReading(bed);
  const lookUps = (): LookUp[] => side.tap.lookUps.slice(before.lookUps);
  await waitFor(() => (splitPasses(lookUps(), users).length >= size.pollingPasses ? true : undefined), {
    limitMs: 2 * size.pollingPasses * pollIntervalMs,
    everyMs: 500,
  });
  const after = await takeReading(bed);
  const seconds = (after.at - before.at) / 1_000;
  return {
    passes: splitPasses(lookUps(), users),
    seconds,
    gaps: measureGaps(lookUps()),
    requests: subtract(after.requests, before.requests),
    tapped: after.lookUps - before.lookUps,
    tooMany: after.tooMany - before.tooMany,
    shares: after.claimed.map((count, index) => count - (before.claimed[index] ?? 0)),
    usage: Object.entries(subtract(after.cpu, before.cpu)).map(([name, cpu]) => [
      name,
      (cpu / seconds) * 100,
      after.megabytes[name] ?? Number.NaN,
    ]),
  };
}

async function takeReading({ platform, side, processes }: PlatformBed) {
  const mapPids = (read: (pid: number) => number): Record<string, number> =>
    Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, read(pid)]));
  return {
    requests: await platform.readRequests(),
    claimed: await Promise.all(side.monitors.map((monitor) => monitor.metric(claimed))),
    tooMany: side.tap.statuses.get(429) ?? 0,
    cpu: mapPids(cpuSeconds),
    megabytes: mapPids(memoryMegabytes),
    lookUps: side.tap.lookUps.length,
    at: performance.now(),
  };
}

/** Subtracts two readings. Omits counters that did not change. */
function subtract(after: Record<string, number>, before: Record<string, number>): Record<string, number> {
  const differences = Object.entries(after).map(
    ([name, count]) => [name, count - (before[name] ?? 0)] as const,
  );
  return Object.fromEntries(differences.filter(([, difference]) => difference > 0));
}

async function killMonitor({ side, databaseUrl }: PlatformBed, users: ReadonlySet<string>): Promise<Killing> {
  const [, monitor] = side.monitors;
  if (!monitor) throw new Error('cannot kill a monitor: there is only one');
  const before = side.tap.lookUps.length;
  const isHalfway = (): boolean => countUsers(side.tap.lookUps.slice(before)) >= users.size / 2;
  await waitFor(() => isHalfway() || undefined, { limitMs: 2 * pollIntervalMs, everyMs: 50 });
  await monitor.kill('SIGKILL');
  const killedAt = new Date().toISOString();
  const startedAt = performance.now();
  const countUnpolled = async (): Promise<number> => {
    const [row] = await runSql<{ count: number }>(
      databaseUrl,
      `SELECT count(*)::int AS count FROM streamer_monitor.streamers
       WHERE NOT disabled AND (polled_at IS NULL OR polled_at < '${killedAt}')`,
    );
    return row?.count ?? users.size;
  };
  const isDone = await waitFor(async () => ((await countUnpolled()) === 0 ? true : undefined), {
    limitMs: 2 * pollIntervalMs,
    everyMs: 500,
  });
  const ms = isDone ? performance.now() - startedAt : undefined;
  const unpolled = await countUnpolled();
  await monitor.start();
  return { ms, unpolled };
}

function report(streamers: number, polling: Polling, killing: Killing): Section {
  const { seconds, requests, usage } = polling;
  return {
    title: 'Polling',
    paragraphs: [
      `All ${formatCount(streamers)} streamers are polled every ${pollIntervalMs / 1_000} s by two streamer monitors, with 100 streamers per call. A tap between the connectors and the platform recorded every call. A polling pass begins with a call, and ends when every streamer has been polled once. A call also includes streamers that are due within ${pollAheadMs / 1_000} s, so that calls stay full.`,
      `Calls to the platform in ${seconds.toFixed(0)} s, counted by the platform:`,
      table(
        ['call', 'count'],
        Object.entries(requests).map(([route, count]) => [route, formatCount(count)]),
      ),
      'CPU and memory of the processes during this time:',
      table(
        ['process', 'CPU, of one core', 'private memory'],
        usage.map(([name, cpu, megabytes]) => [name, `${cpu.toFixed(1)} %`, `${megabytes.toFixed(0)} MiB`]),
      ),
    ],
    promises: [...promisePasses(streamers, polling), ...promiseShares(polling), promiseKilling(killing)],
  };
}

function promisePasses(streamers: number, { passes, gaps, requests, tapped }: Polling): KeptPromise[] {
  const batches = Math.ceil(streamers / maxLookUp);
  const counts = `${formatCount(requests[streamsRoute] ?? 0)} counted by the platform, ${formatCount(tapped)} by the tap`;
  const [shortest, longest] = [quantile(gaps, 0), quantile(gaps, 1)];
  return [
    {
      promise: `A polling pass over ${formatCount(streamers)} streamers takes ${batches} calls`,
      measured: `${passes.map(({ calls }) => calls).join(', ')} calls; ${counts}`,
      isKept: passes.length > 0 && passes.every(({ calls }) => calls === batches),
    },
    {
      promise: `No streamer is polled twice in a pass, and the time between two polls is ${(pollIntervalMs - pollAheadMs) / 1_000} to ${limitMs / 1_000} s`,
      measured: `${passes.map(({ repeats }) => repeats).join(', ')} twice; ${formatSeconds(shortest)} to ${formatSeconds(longest)}`,
      isKept:
        passes.every(({ repeats }) => repeats === 0) &&
        shortest >= pollIntervalMs - pollAheadMs &&
        longest <= limitMs,
    },
  ];
}

function promiseShares({ shares, requests, seconds, tooMany }: Polling): KeptPromise[] {
  const calls = Object.values(requests).reduce((total, count) => total + count, 0);
  return [
    {
      promise: 'Both monitors poll',
      measured: `${shares.map(formatCount).join(' and ')} streamers`,
      isKept: shares.every((share) => share > 0),
    },
    {
      promise: 'Polling stays within the rate limit of 800 calls per minute',
      measured: `${formatCount(Math.round((calls / seconds) * 60))} calls per minute, ${tooMany} replies with 429`,
      isKept: tooMany === 0,
    },
  ];
}

function promiseKilling({ ms, unpolled }: Killing): KeptPromise {
  const time = ms === undefined ? 'not all polled' : `all polled after ${formatSeconds(ms)}`;
  return {
    promise: `After one monitor is killed (SIGKILL) during a pass, every streamer is polled again within ${limitMs / 1_000} s`,
    measured: `${time}, ${formatCount(unpolled)} not polled`,
    isKept: ms !== undefined && ms <= limitMs && unpolled === 0,
  };
}

function countUsers(lookUps: readonly LookUp[]): number {
  return new Set(lookUps.flatMap(({ userIds }) => userIds)).size;
}
