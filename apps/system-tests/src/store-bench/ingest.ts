import { setTimeout as wait } from 'node:timers/promises';
import { measure, type Measurement } from '../bench/measurement.js';
import { startSubject, type Subject } from '../bench/subject.js';
import { startOpenLoop } from '../load/load.js';
import type { OpenLoopCounts } from '../load/open-loop-generator.js';
import { say } from '../measure/progress.js';
import type { Section } from '../measure/report.js';
import type { BenchBed, Version } from './bench-bed.js';
import { printIngest } from './ingest-report.js';
import { medianRun } from './page-run.js';
import { loadPopulationOf } from './population.js';

/** `empty`: no events yet. `full`: the main store. */
export type StoreState = 'empty' | 'full';

/** Runs of one version, all in the same state of the store. */
export interface IngestRuns {
  version: Version['name'];
  state: StoreState;
  runs: Measurement[];
}

/** A run at a fixed rate. */
export interface OpenLoopRun {
  version: Version['name'];
  /** Share of this version's maximum rate with the full store. */
  share: number;
  perSecond: number;
  counts: OpenLoopCounts;
}

const connections = 64;
const shares = [0.25, 0.5, 0.75];
// Limit for requests in flight. It is far above rate times latency, so a stall does not make requests queue in the generator.
const openLoopConnections = 1_024;

/** Measures ingest at the maximum rate of 64 connections, then at fixed rates. */
export async function measureIngest(bed: BenchBed): Promise<Section> {
  const closed = await compare(bed);
  const maximum = closed.find(({ version, state }) => version === 'this version' && state === 'full');
  const rate = maximum ? medianRun(maximum.runs).perSecond : 0;
  const open: OpenLoopRun[] = [];
  for (const version of bed.versions) open.push(...(await measureFixedRates(version, rate, bed.isQuick)));
  return printIngest(closed, open, {
    connections,
    events: bed.versions[0]?.stores.populationOf('filled').events ?? 0,
  });
}

/** Alternates versions and states of the store, so that other load on the machine affects all equally. */
async function compare({ versions, isQuick }: BenchBed): Promise<IngestRuns[]> {
  const results = versions.flatMap(({ name }) =>
    (['empty', 'full'] as const).map((state): IngestRuns => ({ version: name, state, runs: [] })),
  );
  for (let round = 1; round <= (isQuick ? 1 : 3); round += 1)
    for (const { version: name, state, runs } of results) {
      const version = versions.find((one) => one.name === name);
      if (!version) continue;
      const run = await withSubject(version, state, (subject) =>
        measure(subject, version.stores.servers, {
          kind: 'notifications',
          connections,
          population: loadPopulationOf(version.stores.populationOf('filled')),
          warmUpSeconds: isQuick ? 4 : 10,
          seconds: isQuick ? 5 : 15,
        }),
      );
      runs.push(run);
      say(
        `ingest, ${name}, ${state} store: ${run.perSecond.toFixed(0)}/s, p99 ${run.latencyMs.p99.toFixed(1)} ms`,
      );
    }
  return results;
}

async function measureFixedRates(
  version: Version,
  maximum: number,
  isQuick: boolean,
): Promise<OpenLoopRun[]> {
  return withSubject(version, 'full', async (subject) => {
    const results: OpenLoopRun[] = [];
    for (const share of shares) {
      const perSecond = Math.round(maximum * share);
      const { ports, webhookSecret, token } = subject;
      const load = startOpenLoop({
        kind: 'notifications',
        ports,
        webhookSecret,
        token,
        connections: openLoopConnections,
        perSecond,
        population: loadPopulationOf(version.stores.populationOf('filled')),
      });
      await wait(isQuick ? 3_000 : 8_000);
      await load.takeCounts();
      await wait(isQuick ? 4_000 : 20_000);
      const counts = await load.takeCounts();
      await load.stop();
      results.push({ version: version.name, share, perSecond, counts });
      say(`open loop, ${version.name}, ${perSecond}/s: p99 ${counts.latencyMs.p99.toFixed(1)} ms`);
    }
    return results;
  });
}

async function withSubject<T>(
  { stores }: Version,
  state: StoreState,
  work: (subject: Subject) => Promise<T>,
): Promise<T> {
  const url = state === 'full' ? await stores.databaseOf('filled') : await stores.createEmptyDatabase();
  const subject = await startSubject('1 + 1', stores.servers, url, { checkout: stores.checkout });
  try {
    return await work(subject);
  } finally {
    await subject.stop();
  }
}
