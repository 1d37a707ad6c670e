import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { say } from './measure/progress.js';
import { formatCount, report, type Section, type SystemTest } from './measure/report.js';
import { measureErasure } from './store-bench/erasure.js';
import { measureExport } from './store-bench/export.js';
import { FilledStores, type BenchBed } from './store-bench/filled-stores.js';
import { measureFilters } from './store-bench/filters.js';
import { measureIngest } from './store-bench/ingest.js';
import { measureFirstPages, measurePartitionCounts } from './store-bench/pages.js';
import { measurePartitionRemoval } from './store-bench/partition-removal.js';
import { typeShares } from './store-bench/population.js';

// npm run bench:store: fills a store with many events, and measures reads and writes. --quick uses a small store.
//
//   --events N, --months N      size of the store (default: 10,000,000 events in 14 monthly partitions)
//   --store FOLDER              keeps the filled store in this folder for later runs, which use copies of the store
//   --product FOLDER            measures the services of another built checkout instead of this one
//   --only PART,…               runs only these parts
//   --serve                     starts the services on the store and prints where they are, until Ctrl-C

const test: SystemTest = {
  title: 'Store benchmarks',
  command: 'bench:store',
  setting:
    'One gateway, one events service, PostgreSQL, and NATS run as separate processes with the settings of `npm start`. The services, the servers, and the load share one machine.',
};

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    events: { type: 'string' },
    months: { type: 'string', default: '14' },
    store: { type: 'string' },
    product: { type: 'string' },
    only: { type: 'string' },
    serve: { type: 'boolean', default: false },
  },
});

const parts: Record<string, (bed: BenchBed) => Promise<Section>> = {
  'first-pages': measureFirstPages,
  partitions: measurePartitionCounts,
  filters: measureFilters,
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

function describeStore(stores: FilledStores): Section {
  const { months, channels, viewers } = stores.populationOf('filled');
  return {
    title: 'The store',
    paragraphs: [
      `The store has ${formatCount(events)} events of ${formatCount(channels)} channels and ${formatCount(viewers)} viewers in ${months} monthly partitions. Channels and viewers have long tails: the first channel has 10 % of the events, and the last channel 0.03 %; the first viewers have about 1 % each, and the last viewers a few events each. There are ${typeShares.length} kinds of events: 80 % are chat messages, 0.4 % are tests, and 0.3 % come from a client.`,
      'Each viewer occurs in only some of the channels, so that some common values never occur together. The data of an event is 250 to 430 bytes long and agrees with the columns that the service derives from it. The rows depend only on the size of the store and on the day.',
    ],
    promises: [],
  };
}

/** Runs the services on the main store until Ctrl-C, for experiments. */
async function serve(stores: FilledStores): Promise<void> {
  const interrupted = once(process, 'SIGINT');
  await stores.withSystem('filled', async ({ gateways, events: services, token }, url) => {
    say(`gateway: ${gateways[0]?.url}, metrics ${gateways[0]?.adminUrl}, process ${gateways[0]?.pid}`);
    say(`events service: metrics ${services[0]?.adminUrl}, process ${services[0]?.pid}`);
    say(`owner's token: ${token}`);
    say(`database: ${url} (schema events)`);
    await interrupted;
  });
}

async function measureParts(stores: FilledStores): Promise<void> {
  const sections = [describeStore(stores)];
  for (const [name, measurePart] of Object.entries(parts))
    if (chosenParts.includes(name)) sections.push(await measurePart({ stores, isQuick: flags.quick }));
  await report(test, { servers: stores.servers, startedAt, sections });
}

const stores = await FilledStores.open({
  events,
  months: Number(flags.months),
  directory: flags.store,
  checkout: flags.product,
});
try {
  await (flags.serve ? serve(stores) : measureParts(stores));
} finally {
  await stores.stop();
}
