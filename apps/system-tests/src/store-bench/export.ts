import { startSubjectLoad } from '../bench/measurement.js';
import { subjectOf } from '../bench/subject.js';
import { say } from '../measure/progress.js';
import { formatCount, formatSeconds, type Section } from '../measure/report.js';
import type { System } from '../system/system.js';
import { disturb, printDisturbance } from './disturbance.js';
import type { BenchBed } from './filled-stores.js';
import { pageLoad } from './pages.js';

/** Exports 1,000,000 events while another client reads first pages, one after the other. */
export async function measureExport({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const { result, disturbance } = await stores.withSystem('filled', (system) => {
    const loads = { pages: startSubjectLoad(subjectOf(system), pageLoad(population, 1)) };
    return disturb(loads, isQuick, () => readExport(system, Math.min(1_000_000, population.events)));
  });
  const { events, megabytes, seconds } = result;
  say(`export: ${(events / seconds).toFixed(0)} events/s`);
  return {
    title: 'Export',
    paragraphs: [
      `One client exports ${formatCount(events)} events as NDJSON (${formatCount(megabytes)} MiB), oldest first, in ${formatSeconds(seconds * 1_000)}: ${formatCount(events / seconds)} events per second. Meanwhile another client reads first pages, one after the other. The pages of the other client:`,
      printDisturbance(disturbance),
    ],
    promises: [],
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
