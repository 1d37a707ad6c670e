import type { Measurement } from '../bench/measurement.js';
import { formatCount, table, type KeptPromise, type Section } from '../measure/report.js';
import type { IngestRuns, OpenLoopRun } from './ingest.js';
import { medianRatio, medianRun, serviceCpu } from './page-run.js';

const goals = { cpuOfBaseline: 0.75, halfRateP99Ms: 15, ofEmpty: 0.9 };

export function printIngest(
  closed: readonly IngestRuns[],
  open: readonly OpenLoopRun[],
  { connections, events }: { connections: number; events: number },
): Section {
  return {
    title: 'Ingest',
    paragraphs: [
      `Signed notifications: follows, spread evenly over all channels and viewers of the store, so that new entries touch pages throughout the indexes. A response counts when the event is committed with fsync. The first runs use ${connections} connections with one request in flight each, on an empty store and on the store with ${formatCount(events)} events. CPU is per event; runs alternate, and the figures are those of the median run:`,
      table(
        [
          'version',
          'store',
          'events/s',
          'p99',
          'PostgreSQL',
          'gateway',
          'events',
          'NATS',
          'all CPU per event',
          'failed',
        ],
        closed.map(({ version, state, runs }) => printRun(version, state, medianRun(runs))),
      ),
      'At fixed rates, notifications are due at even intervals, whether or not earlier notifications have got a response. The latency counts from the time when a notification was due, so a stall of the service counts for every notification that was due meanwhile. "Waiting" is the number of notifications that were due at the end but not sent; it grows when the rate is too high:',
      table(
        ['version', 'rate', 'events/s', 'p50', 'p99', 'longest', 'waiting', 'failed'],
        open.map(({ version, share, perSecond, counts }) => [
          version,
          `${share * 100} % (${formatCount(perSecond)}/s)`,
          formatCount(counts.succeeded / counts.seconds),
          ...[counts.latencyMs.p50, counts.latencyMs.p99, counts.latencyMs.max].map(
            (ms) => `${ms.toFixed(1)} ms`,
          ),
          formatCount(counts.backlog),
          printFailed(counts.failed),
        ]),
      ),
    ],
    promises: judge(closed, open),
  };
}

function printRun(version: string, state: string, run: Measurement): string[] {
  return [
    version,
    state,
    formatCount(run.perSecond),
    `${run.latencyMs.p99.toFixed(1)} ms`,
    ...['PostgreSQL', 'gateway', 'events', 'NATS'].map(
      (role) => `${(run.cpuMicroseconds[role] ?? 0).toFixed(0)} µs`,
    ),
    `${serviceCpu(run).toFixed(0)} µs`,
    printFailed(run.failed),
  ];
}

function printFailed(failed: Record<string, number>): string {
  const parts = Object.entries(failed).map(([status, count]) => `${count} × ${status}`);
  return parts.join(', ') || 'none';
}

function judge(closed: readonly IngestRuns[], open: readonly OpenLoopRun[]): KeptPromise[] {
  const runsOf = (version: IngestRuns['version'], state: IngestRuns['state']): Measurement[] =>
    closed.find((one) => one.version === version && one.state === state)?.runs ?? [];
  const ofEmpty = medianRatio(
    runsOf('this version', 'full').map(({ perSecond }) => perSecond),
    runsOf('this version', 'empty').map(({ perSecond }) => perSecond),
  );
  const half = open.find(({ version, share }) => version === 'this version' && share === 0.5);
  const p99 = half?.counts.latencyMs.p99 ?? Number.NaN;
  return [
    ...(['empty', 'full'] as const).flatMap((state) => {
      const others = runsOf('baseline', state);
      if (others.length === 0) return [];
      const ratio = medianRatio(runsOf('this version', state).map(serviceCpu), others.map(serviceCpu));
      return {
        promise: `ingest, ${state} store: CPU per event of all processes except the load ≤ ${goals.cpuOfBaseline} × the baseline`,
        measured: `${ratio.toFixed(2)} ×`,
        isKept: ratio <= goals.cpuOfBaseline,
      };
    }),
    {
      promise: `ingest at half of the maximum rate: p99 ≤ ${goals.halfRateP99Ms} ms from the time when an event is due`,
      measured: `${p99.toFixed(1)} ms`,
      isKept: p99 <= goals.halfRateP99Ms,
    },
    {
      promise: `ingest: rate with the full store ≥ ${goals.ofEmpty} × the rate with an empty one`,
      measured: `${ofEmpty.toFixed(2)} ×`,
      isKept: ofEmpty >= goals.ofEmpty,
    },
  ];
}
