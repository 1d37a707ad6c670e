import { table } from '../measure/report.js';
import { formatCount, formatSeconds, type KeptPromise, type Section } from '../measure/report.js';
import { median, quantile } from '../measure/quantile.js';
import type { OutageResult } from './outages.js';
import { perSecond, probeKinds, type ProbeKind, type Speeds } from './speed-probe.js';

// Time limit for refusing a request. Users do not wait longer.
const refusalLimitMs = 5_000;
// Limits for latency during an outage, relative to before. Repeated measurements on a shared machine differ this much. Waiting for the
// platform would give a ratio of 1,000 or more.
const maxMedianRatio = 1.25;
const maxP99Ratio = 2;
// Time limit for recovery. The circuit breaker retries at least every 30 s.
const recoveryLimitMs = 35_000;

const names: Record<ProbeKind, string> = {
  heartbeat: 'heartbeat',
  list: 'list of events',
  webhook: 'webhook ingest',
};

export function printOutages(baselines: readonly Speeds[], results: readonly OutageResult[]): Section {
  const baseline = pool(baselines);
  const duringOutages = pool(results.map(({ speeds }) => speeds));
  return {
    title: 'Outages of the platform',
    paragraphs: [
      `The platform's API failed in several ways, one after the other, and worked in between. Throughout, the test sent ${perSecond} heartbeats, ${perSecond} requests for a list of 50 events, and ${perSecond} signed webhook messages per second, and \`POST /api/v1/streamers\` every few seconds. The baseline was measured before, between, and after the outages. Median / p99 in milliseconds, with the ratio to the baseline:`,
      table(
        ['', ...probeKinds.map((kind) => names[kind]), 'failed'],
        [
          ['baseline', ...probeKinds.map((kind) => printTimes(baseline.ms[kind])), String(baseline.failures)],
          ...results.map(({ name, speeds }) => [
            name,
            ...probeKinds.map((kind) => printCompared(speeds.ms[kind], baseline.ms[kind])),
            String(speeds.failures),
          ]),
        ],
      ),
      '`POST /api/v1/streamers` during each outage, and the time from the end of the outage until a request succeeded again (201) and until polling had caught up:',
      table(
        ['', 'seconds', 'replies', 'longest', 'stored', '201 after', 'caught up after'],
        results.map((result) => [
          result.name,
          String(result.seconds),
          countStatuses(result),
          formatSeconds(longestOf(result)),
          formatCount(result.stored),
          printTime(result.recoveryMs),
          printTime(result.caughtUpMs),
        ]),
      ),
    ],
    promises: [
      ...probeKinds.map((kind) => promiseSpeed(kind, baseline, duringOutages)),
      {
        promise: 'No heartbeat, event list, or signed message fails',
        measured: `${formatCount(baseline.failures)} in the baseline, ${formatCount(duringOutages.failures)} in outages`,
        isKept: baseline.failures + duringOutages.failures === 0,
      },
      ...promiseRefusals(results),
    ],
  };
}

function promiseSpeed(kind: ProbeKind, baseline: Speeds, duringOutages: Speeds): KeptPromise {
  const medians = median(duringOutages.ms[kind]) / median(baseline.ms[kind]);
  const tails = p99(duringOutages.ms[kind]) / p99(baseline.ms[kind]);
  return {
    promise: `The ${names[kind]} remains as fast as without outages: over all outages, median ≤ ${maxMedianRatio} and p99 ≤ ${maxP99Ratio} times the baseline`,
    measured: `${medians.toFixed(2)} and ${tails.toFixed(2)} times`,
    isKept: medians <= maxMedianRatio && tails <= maxP99Ratio,
  };
}

function promiseRefusals(results: readonly OutageResult[]): KeptPromise[] {
  const total = results.filter(({ isTotal }) => isTotal);
  const attempts = total.flatMap((result) => result.attempts);
  const others = attempts.filter(({ status }) => status !== 503).length;
  const longest = Math.max(...total.map(longestOf));
  const stored = total.reduce((sum, result) => sum + result.stored, 0);
  const recoveries = results.map(({ recoveryMs }) => recoveryMs ?? Infinity);
  const revoked = results.filter(({ isTotal }) => !isTotal);
  return [
    {
      promise: `POST /streamers returns 503 within ${refusalLimitMs / 1_000} s and stores nothing`,
      measured: `${attempts.length} requests, ${others} with another status, the longest ${formatSeconds(longest)}, ${formatCount(stored)} stored`,
      isKept: attempts.length > 0 && others === 0 && longest < refusalLimitMs && stored === 0,
    },
    {
      promise: `POST /streamers returns 201 again within ${recoveryLimitMs / 1_000} s after the outage`,
      measured: `after ${recoveries.map(printTime).join(', ')}`,
      isKept: recoveries.every((ms) => ms <= recoveryLimitMs),
    },
    {
      promise: 'Streamers can still be added after all access tokens are revoked',
      measured: revoked.map(countStatuses).join(', '),
      isKept: revoked.every((result) => result.attempts.every(({ status }) => status === 201)),
    },
  ];
}

function pool(all: readonly Speeds[]): Speeds {
  const of = (kind: ProbeKind): number[] => all.flatMap(({ ms }) => ms[kind]);
  return {
    ms: { heartbeat: of('heartbeat'), list: of('list'), webhook: of('webhook') },
    failures: all.reduce((sum, { failures }) => sum + failures, 0),
  };
}

function p99(times: readonly number[]): number {
  return quantile(times, 0.99);
}

function printTimes(times: readonly number[]): string {
  return `${median(times).toFixed(1)} / ${p99(times).toFixed(1)}`;
}

function printCompared(times: readonly number[], baseline: readonly number[]): string {
  const ratios = [median(times) / median(baseline), p99(times) / p99(baseline)];
  return `${printTimes(times)} (${ratios.map((ratio) => ratio.toFixed(2)).join(' / ')})`;
}

function printTime(ms: number | undefined): string {
  return ms === undefined || !Number.isFinite(ms) ? '**never**' : formatSeconds(ms);
}

function longestOf({ attempts }: OutageResult): number {
  return Math.max(...attempts.map(({ ms }) => ms));
}

function countStatuses({ attempts }: OutageResult): string {
  const counts = new Map<number, number>();
  for (const { status } of attempts) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${count} × ${status}`).join(', ');
}
