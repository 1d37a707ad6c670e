import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { say } from './measure/progress.js';
import { report, type Section, type SystemTest } from './measure/report.js';
import { withSystem, type BenchBed, type Version } from './store-bench/bench-bed.js';
import { measureErasure } from './store-bench/erasure.js';
import { measureExport } from './store-bench/event-export.js';
import { measureFilterPairs } from './store-bench/filter-pairs.js';
import { FilledStores, type StoresPlan } from './store-bench/filled-stores.js';
import { measureFirstPages } from './store-bench/first-pages.js';
import { measureIndexSizes } from './store-bench/index-sizes.js';
import { measureIngest } from './store-bench/ingest.js';
import { describeMethod } from './store-bench/method.js';
import { measurePartitionCounts } from './store-bench/partition-counts.js';
import { measurePartitionRemoval } from './store-bench/partition-removal.js';
import { measureSingleFilters } from './store-bench/single-filters.js';
import { measureStreamSummary } from './store-bench/stream-summary.js';
import { measureTokenLimits } from './store-bench/token-limits.js';

// npm run bench:store: fills a store with many events, measures reads and writes, and writes docs/store-benchmarks.md. --quick uses a small
// store, prints the result, and leaves the page unchanged.
//
//   --events N, --months N      size of the store (default: 10,000,000 events in 14 monthly partitions)
//   --store FOLDER              keeps the filled store in this folder for later runs, which use copies of the store
//   --baseline FOLDER           also measures the services of another built checkout, alternating with this one
//   --baseline-store FOLDER     keeps the store of the baseline
//   --product FOLDER            measures the services of another built checkout instead of this one
//   --only PART,…               runs only these parts, and prints the result
//   --fill-only                 fills the store, then ends
//   --serve                     starts the services on the store and prints where they are, until Ctrl-C

const test: SystemTest = {
  title: 'Store benchmarks',
  command: 'bench:store',
  page: 'store-benchmarks.md',
  setting:
    'One gateway, one events service, PostgreSQL, and NATS run as separate processes with the settings of `npm start`. The services, the servers, and the load share one machine.',
};

const defaultMonths = '14';
const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    events: { type: 'string' },
    months: { type: 'string', default: defaultMonths },
    store: { type: 'string' },
    product: { type: 'string' },
    baseline: { type: 'string' },
    'baseline-store': { type: 'string' },
    only: { type: 'string' },
    'fill-only': { type: 'boolean', default: false },
    serve: { type: 'boolean', default: false },
  },
});

const parts: Record<string, (bed: BenchBed) => Promise<Section>> = {
  'first-pages': measureFirstPages,
  partitions: measurePartitionCounts,
  'single-filters': measureSingleFilters,
  pairs: measureFilterPairs,
  indexes: measureIndexSizes,
  'token-limits': measureTokenLimits,
  summary: measureStreamSummary,
  export: measureExport,
  ingest: measureIngest,
  // These parts change the store, so run them last.
  erasure: measureErasure,
  removal: measurePartitionRemoval,
};

const startedAt = performance.now();
const events = Number(flags.events ?? (flags.quick ? 300_000 : 10_000_000));
const chosenParts = flags.only?.split(',') ?? Object.keys(parts);
const unknown = chosenParts.filter((name) => !(name in parts));
if (unknown.length > 0)
  throw new Error(`unknown part ${unknown.join(', ')}; the parts are ${Object.keys(parts).join(', ')}`);

async function openVersions(): Promise<Version[]> {
  const plan = (directory: string | undefined, checkout: string | undefined): StoresPlan => ({
    events,
    months: Number(flags.months),
    directory,
    checkout,
  });
  const versions: Version[] = [];
  try {
    versions.push({
      name: 'this version',
      stores: await FilledStores.open(plan(flags.store, flags.product)),
    });
    if (flags.baseline !== undefined)
      versions.push({
        name: 'baseline',
        stores: await FilledStores.open(plan(flags['baseline-store'], flags.baseline)),
      });
    return versions;
  } catch (error) {
    await stopAll(versions);
    throw error;
  }
}

async function stopAll(versions: readonly Version[]): Promise<void> {
  await Promise.all(versions.map(({ stores }) => stores.stop()));
}

/** Runs the services on the main store until Ctrl-C, for experiments. */
async function serve(version: Version): Promise<void> {
  const url = await version.stores.databaseOf('filled');
  const interrupted = once(process, 'SIGINT');
  await withSystem(version, url, async ({ gateways, events: services, token }) => {
    say(`gateway: ${gateways[0]?.url}, metrics ${gateways[0]?.adminUrl}, process ${gateways[0]?.pid}`);
    say(`events service: metrics ${services[0]?.adminUrl}, process ${services[0]?.pid}`);
    say(`owner's token: ${token}`);
    say(`database: ${url} (schema events)`);
    await interrupted;
  });
}

async function measureParts(versions: readonly Version[]): Promise<void> {
  const bed = { versions, isQuick: flags.quick };
  const sections = [describeMethod(bed)];
  for (const [name, measurePart] of Object.entries(parts))
    if (chosenParts.includes(name)) sections.push(await measurePart(bed));
  const servers = versions[0]?.stores.servers;
  if (!servers) throw new Error('there is no version to measure');
  const isOfFullSize = !flags.quick && flags.events === undefined && flags.months === defaultMonths;
  const isWhole = isOfFullSize && flags.only === undefined && flags.product === undefined;
  await report(test, { servers, startedAt, sections, isWhole });
}

const versions = await openVersions();
try {
  const [first] = versions;
  if (flags.serve && first) await serve(first);
  else if (!flags['fill-only']) await measureParts(versions);
} finally {
  await stopAll(versions);
}
