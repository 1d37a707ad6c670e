import { measure, medianRatio, type Measurement } from '../bench/measurement.js';
import { printRun, runColumns } from '../bench/report.js';
import { subjectOf } from '../bench/subject.js';
import { say } from '../measure/progress.js';
import { formatCount, table, type Section } from '../measure/report.js';
import type { BenchBed } from './filled-stores.js';
import { loadPopulationOf } from './population.js';

const connections = 64;

/** Compares storing into an empty store with storing into the main store. */
export async function measureIngest({ stores, isQuick }: BenchBed): Promise<Section> {
  const population = stores.populationOf('filled');
  const runs = { empty: [] as Measurement[], filled: [] as Measurement[] };
  for (let round = 1; round <= (isQuick ? 1 : 3); round += 1)
    for (const store of ['empty', 'filled'] as const) {
      const run = await stores.withSystem(store, (system) =>
        measure(subjectOf(system), stores.servers, {
          kind: 'notifications',
          connections,
          population: loadPopulationOf(population),
          ...(isQuick ? { warmUpSeconds: 4, seconds: 5 } : { warmUpSeconds: 10, seconds: 15 }),
        }),
      );
      runs[store].push(run);
      say(
        `ingest, ${store} store: ${run.perSecond.toFixed(0)}/s, p99 ${run.latencyMs.p99.toFixed(1)} ms, ${run.failed} failed`,
      );
    }
  return {
    title: 'Ingest',
    paragraphs: [
      `Signed notifications: follows, spread evenly over all channels and viewers of the store, so that new entries touch pages throughout the indexes. A response counts when the event is committed with fsync. ${connections} connections have one request in flight each. CPU is per event; runs alternate, and the figures are those of the median run:`,
      table(
        ['store', 'events/s', ...runColumns, 'failed'],
        Object.entries(runs).map(([store, done]) => [
          store === 'empty' ? 'empty' : `${formatCount(population.events)} events`,
          ...printRun(done),
          formatCount(done.reduce((sum, { failed }) => sum + failed, 0)),
        ]),
      ),
      `Rate with the full store, divided by the rate with an empty one, median of ratios: ${medianRatio(runs.filled, runs.empty, ({ perSecond }) => perSecond).toFixed(2)}.`,
    ],
    promises: [],
  };
}
