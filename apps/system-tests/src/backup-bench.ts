import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrateDatabase } from '@stream-events/database';
import { eventsBackup } from '@stream-events/events/backup';
import { gatewayBackup } from '@stream-events/gateway/backup';
import { platformConnectorBackup } from '@stream-events/platform-connector/backup';
import { streamerMonitorBackup } from '@stream-events/streamer-monitor/backup';
import { measureCommand, type MeasuredCommand } from './backup-bench/measured-command.js';
import { say } from './measure/progress.js';
import {
  formatCount,
  formatSeconds,
  report,
  table,
  type Section,
  type SystemTest,
} from './measure/report.js';
import { fillStore } from './store-bench/fill-store.js';
import { choosePopulation } from './store-bench/population.js';
import { databaseUrlFor, prepareDatabase } from './system/database-roles.js';
import { runSql, startServers, type Servers } from './system/servers.js';

// npm run bench:backup: backs up and restores a store with 1,000,000 events, and writes docs/backup-benchmarks.md. --quick uses 100,000
// events; --events N uses N. With either option, the command prints the result and leaves the page unchanged.

const test: SystemTest = {
  title: 'Backup benchmarks',
  command: 'bench:backup',
  page: 'backup-benchmarks.md',
  setting:
    'No service runs: `npm run backup` and `npm run restore` use one PostgreSQL server with the settings of `npm start`. Everything shares one machine.',
};
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, events: { type: 'string' } },
});

const events = Number(flags.events ?? (flags.quick ? 100_000 : 1_000_000));
const months = 3;
const smallShare = 0.1;
// Limit for memory growth with ten times the events. Garbage collection makes memory vary; keeping all rows in memory would give a factor
// of 10.
const maxGrowth = 1.5;
const directoryOfArchives = '/var/tmp';

/** A store that was backed up and restored to a second store, and the comparison of the two stores. */
interface Drill {
  events: number;
  rows: number;
  archiveMegabytes: number;
  storeMegabytes: number;
  backup: MeasuredCommand;
  restore: MeasuredCommand;
  isEqual: boolean;
}

const schemas = [
  ['events', eventsBackup],
  ['gateway', gatewayBackup],
  ['streamer-monitor', streamerMonitorBackup],
  ['platform-connector', platformConnectorBackup],
] as const;

const startedAt = performance.now();
const directory = await mkdtemp(join(directoryOfArchives, 'stream-events-backup-bench-'));
const servers = await startServers();
try {
  const small = await drill(servers, { name: 'small', count: Math.round(events * smallShare) });
  const large = await drill(servers, { name: 'large', count: events });
  const sections = [printSection(small, large)];
  await report(test, { servers, startedAt, sections, isWhole: !flags.quick && flags.events === undefined });
} finally {
  await servers.stop();
  await rm(directory, { recursive: true, force: true });
}

async function drill(on: Servers, { name, count }: { name: string; count: number }): Promise<Drill> {
  const source = await on.createDatabase(`${name}_source`);
  const target = await on.createDatabase(`${name}_target`);
  await prepareDatabase(source);
  for (const [service, { name: schema, migrations }] of schemas) {
    const options = { url: databaseUrlFor(service, source), schema, migrations: [...migrations] };
    await migrateDatabase({ ...options, applicationName: 'bench', entities: [] });
  }
  await fillStore(source, choosePopulation(count, months, Date.now()), say);
  await runSql(on.postgres.url, 'CHECKPOINT');
  const archive = join(directory, `${name}.tar.gz`);
  const environment = {
    DATA_DIR: directory,
    PLATFORM: 'simulator',
    SECRET_KEY: randomBytes(32).toString('hex'),
  };
  const backup = await measureCommand('backup', [archive], { ...environment, DATABASE_URL: source });
  say(`backed up ${formatCount(count)} events in ${formatSeconds(backup.ms)}`);
  const restore = await measureCommand('restore', [archive], { ...environment, DATABASE_URL: target });
  say(`restored ${formatCount(count)} events in ${formatSeconds(restore.ms)}`);
  const [before, after] = [await summarize(source), await summarize(target)];
  return {
    events: count,
    rows: before.rows,
    archiveMegabytes: (await stat(archive)).size / 1024 ** 2,
    storeMegabytes: before.bytes / 1024 ** 2,
    backup,
    restore,
    isEqual: before.rows === after.rows && before.hash === after.hash && before.indexes === after.indexes,
  };
}

/** Row count, hash of all events, number of valid indexes, and size in bytes of the store at `url`. */
async function summarize(
  url: string,
): Promise<{ rows: number; hash: string; indexes: string; bytes: number }> {
  const [found] = await runSql<{ rows: number; hash: string; indexes: string; bytes: number }>(
    url,
    `SELECT (SELECT count(*)::float8 FROM events.events) + (SELECT count(*)::float8 FROM events.received_messages) AS rows,
       (SELECT sum(hashtext(event::text)::bigint)::text FROM events.events AS event) AS hash,
       (SELECT count(*)::text FROM pg_index JOIN pg_class ON pg_class.oid = indrelid
        WHERE relnamespace = 'events'::regnamespace AND indisvalid) AS indexes,
       (SELECT sum(pg_total_relation_size(oid))::float8 FROM pg_class
        WHERE relnamespace = 'events'::regnamespace AND relkind = 'r') AS bytes`,
  );
  if (!found) throw new Error(`${url} has no store`);
  return found;
}

function printSection(small: Drill, large: Drill): Section {
  const peak = ({ backup, restore }: Drill): number => Math.max(backup.peakMegabytes, restore.peakMegabytes);
  return {
    title: 'Backup and restore',
    paragraphs: [
      `The stores have ${months} monthly partitions, and the same mix of events and the same indexes as in the [store benchmarks](../apps/system-tests/README.md). The restore includes checking the archive, loading the rows, building all indexes, and collecting statistics. CPU (in seconds) and memory (the highest private memory, sampled every 100 ms) are those of the command, without PostgreSQL.`,
      table(
        [
          'events',
          'store',
          'archive',
          'backup',
          'rows/s',
          'CPU',
          'memory',
          'restore',
          'rows/s',
          'CPU',
          'memory',
        ],
        [small, large].map(describe),
      ),
    ],
    promises: [
      {
        promise: 'The restored store has the same events and indexes',
        measured: [small, large].map(({ isEqual }) => (isEqual ? 'equal' : 'different')).join(', '),
        isKept: small.isEqual && large.isEqual,
      },
      {
        promise: `Memory is flat: ten times as many events need at most ${maxGrowth} × the memory`,
        measured: `${peak(small).toFixed(0)} and ${peak(large).toFixed(0)} MiB`,
        isKept: peak(large) <= peak(small) * maxGrowth,
      },
    ],
  };
}

function describe({
  events: count,
  rows,
  storeMegabytes,
  archiveMegabytes,
  backup,
  restore,
}: Drill): string[] {
  const cells = ({ ms, cpuSeconds, peakMegabytes }: MeasuredCommand): string[] => [
    formatSeconds(ms),
    formatCount(rows / (ms / 1_000)),
    `${cpuSeconds.toFixed(1)} s`,
    `${peakMegabytes.toFixed(0)} MiB`,
  ];
  const sizes = [storeMegabytes, archiveMegabytes].map((size) => `${formatCount(size)} MiB`);
  return [formatCount(count), ...sizes, ...cells(backup), ...cells(restore)];
}
