import { setTimeout as wait } from 'node:timers/promises';
import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { say } from '../measure/progress.js';
import {
  atLeast,
  atMost,
  formatCount,
  formatMs,
  formatSeconds,
  table,
  type Section,
} from '../measure/report.js';
import type { System } from '../system/system.js';
import type { BenchBed } from './filled-stores.js';
import { pageLoad } from './pages.js';

const goals = { perSecond: 20_000, pageFactor: 2 };

/** Exports 1,000,000 events while another client reads first pages, one after the other. */
export async function measureExport({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const { exported, before, during } = await stores.withSystem('filled', async (system) => {
    const reading = startSubjectLoad(subjectOf(system), pageLoad(population, 1));
    // Warm-up: the first requests open database connections and run uncompiled code.
    await wait(isQuick ? 3_000 : 10_000);
    await reading.takeCounts();
    await wait(isQuick ? 3_000 : 10_000);
    const before = await reading.takeCounts();
    const exported = await readExport(system, Math.min(1_000_000, population.events));
    const during = await reading.takeCounts();
    await reading.stop();
    return { exported, before: before.latencyMs, during: during.latencyMs };
  });
  const { events, megabytes, seconds } = exported;
  say(`export: ${(events / seconds).toFixed(0)} events/s`);
  return {
    title: 'Export',
    paragraphs: [
      `One client exports ${formatCount(events)} events as NDJSON (${formatCount(megabytes)} MiB), oldest first, in ${formatSeconds(seconds * 1_000)}. Meanwhile another client reads first pages, one after the other:`,
      table(
        ['pages of the other client', 'p50', 'p99'],
        [
          ['before the export', formatMs(before.p50), formatMs(before.p99)],
          ['during the export', formatMs(during.p50), formatMs(during.p99)],
        ],
      ),
    ],
    promises: [
      atLeast(
        `export: ≥ ${formatCount(goals.perSecond)} events/s`,
        events / seconds,
        goals.perSecond,
        (perSecond) => `${formatCount(perSecond)}/s`,
      ),
      atMost(
        `pages during the export: p99 ≤ ${goals.pageFactor} × the p99 before`,
        during.p99 / before.p99,
        goals.pageFactor,
      ),
    ],
  };
}

/** Reads an export, and cancels the export after `limit` events. */
async function readExport(
  { gateways, token }: System,
  limit: number,
): Promise<{ events: number; megabytes: number; seconds: number }> {
  const abort = new AbortController();
  const startedAt = performance.now();
  const response = await fetch(`${gateways[0]?.url}/api/v1/platform-events/export?format=ndjson`, {
    headers: { authorization: `Token ${token}` },
    signal: abort.signal,
  });
  if (!response.ok || !response.body) throw new Error(`the export returned ${response.status}`);
  const lineFeed = 10;
  let events = 0;
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, at + 1)) events += 1;
    if (events >= limit) break;
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  abort.abort();
  return { events, megabytes: bytes / 1024 ** 2, seconds };
}
