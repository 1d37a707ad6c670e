import { setTimeout as wait } from 'node:timers/promises';
import { memoryMegabytes } from '../measure/processes.js';
import { say } from '../measure/progress.js';
import { median, quantile } from '../measure/quantile.js';
import { formatCount, formatSeconds, table, type Section } from '../measure/report.js';
import type { System } from '../system/system.js';
import { portOf, withSystem, type BenchBed } from './bench-bed.js';
import { commonQueries } from './list-query.js';
import { ListClient } from './list-client.js';
import type { Population } from './population.js';

/** Memory at one moment, in MiB. */
type MemorySample = Record<'gateway' | 'events', number>;

interface Export {
  events: number;
  megabytes: number;
  seconds: number;
  samples: MemorySample[];
  /** Durations of another client's page requests, in milliseconds. */
  pages: { before: number[]; during: number[] };
}

const goals = { perSecond: 20_000, growthMegabytes: 32, pageFactor: 2 };
const sampleEveryMs = 250;

/** Exports 1,000,000 events while another client reads pages. */
export async function measureExport({ versions, isQuick }: BenchBed): Promise<Section> {
  const [version] = versions;
  if (!version) throw new Error('there is no version to measure');
  const population = version.stores.populationOf('filled');
  const url = await version.stores.databaseOf('filled');
  const result = await withSystem(version, url, async (system): Promise<Export> => {
    const reading = startReading(system, population);
    await wait(isQuick ? 3_000 : 10_000);
    reading.take();
    await wait(isQuick ? 3_000 : 10_000);
    const before = reading.take();
    const samples: MemorySample[] = [];
    const timer = setInterval(() => samples.push(readMemory(system)), sampleEveryMs);
    const exported = await readExport(system, Math.min(1_000_000, population.events));
    clearInterval(timer);
    const during = reading.take();
    await reading.stop();
    return { ...exported, samples, pages: { before, during } };
  });
  say(`export: ${(result.events / result.seconds).toFixed(0)} events/s`);
  return print(result);
}

/** Reads an export, and cancels the export after `limit` events. */
async function readExport(
  system: System,
  limit: number,
): Promise<Pick<Export, 'events' | 'megabytes' | 'seconds'>> {
  const abort = new AbortController();
  const startedAt = performance.now();
  const response = await fetch(`${system.gateways[0]?.url}/api/v1/platform-events/export?format=ndjson`, {
    headers: { authorization: `Token ${system.token}` },
    signal: abort.signal,
  });
  if (!response.ok || !response.body) throw new Error(`the export returned ${response.status}`);
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

const lineFeed = 10;

/** Reads first pages, one after the other. */
function startReading(system: System, population: Population) {
  const client = new ListClient(portOf(system), system.token);
  const queries = commonQueries(population);
  let times: number[] = [];
  const stopping = new AbortController();
  const running = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn += 1)
      times.push((await client.first(queries[turn % queries.length] ?? {})).ms);
  })();
  // Prevent an unhandled rejection: `stop` rethrows the error.
  running.catch(() => undefined);
  return {
    take: (): number[] => {
      const taken = times;
      times = [];
      return taken;
    },
    stop: async (): Promise<void> => {
      stopping.abort();
      await running;
      client.close();
    },
  };
}

function readMemory({ gateways, events }: System): MemorySample {
  return { gateway: memoryMegabytes(gateways[0]?.pid ?? 0), events: memoryMegabytes(events[0]?.pid ?? 0) };
}

function print({ events, megabytes, seconds, samples, pages }: Export): Section {
  const perSecond = events / seconds;
  const third = Math.ceil(samples.length / 3);
  const memoryOf = (role: keyof MemorySample) => ({
    start: median(samples.slice(0, third).map((sample) => sample[role])),
    end: median(samples.slice(-third).map((sample) => sample[role])),
  });
  const roles = [
    { name: 'gateway', ...memoryOf('gateway') },
    { name: 'events', ...memoryOf('events') },
  ];
  const growth = Math.max(...roles.map(({ start, end }) => end - start));
  const factor = quantile(pages.during, 0.99) / quantile(pages.before, 0.99);
  return {
    title: 'Export',
    paragraphs: [
      `One client exports ${formatCount(events)} events as NDJSON (${formatCount(megabytes)} MiB), oldest first, in ${formatSeconds(seconds * 1_000)}. Meanwhile another client reads first pages, one after the other. Private memory of the processes in MiB, median of the first third and median of the last third of the export:`,
      table(
        ['process', 'first third', 'last third'],
        roles.map(({ name, start, end }) => [name, start.toFixed(0), end.toFixed(0)]),
      ),
      table(
        ['pages of the other client', 'p50', 'p99'],
        (['before', 'during'] as const).map((when) => [
          when === 'before' ? 'before the export' : 'during the export',
          `${median(pages[when]).toFixed(1)} ms`,
          `${quantile(pages[when], 0.99).toFixed(1)} ms`,
        ]),
      ),
    ],
    promises: [
      {
        promise: `export: ≥ ${formatCount(goals.perSecond)} events/s`,
        measured: `${formatCount(perSecond)}/s`,
        isKept: perSecond >= goals.perSecond,
      },
      {
        promise: `export: memory grows by at most ${goals.growthMegabytes} MiB from the first to the last third`,
        measured: `${growth.toFixed(0)} MiB`,
        isKept: growth <= goals.growthMegabytes,
      },
      {
        promise: `pages during the export: p99 < ${goals.pageFactor} × the p99 before`,
        measured: `${factor.toFixed(2)} ×`,
        isKept: factor < goals.pageFactor,
      },
    ],
  };
}
