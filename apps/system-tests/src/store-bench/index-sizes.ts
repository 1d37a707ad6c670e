import { formatCount, table, type Section } from '../measure/report.js';
import { runSql } from '../system/servers.js';
import { withSystem, type BenchBed, type Version } from './bench-bed.js';

/** An index of `events`, summed over all partitions. */
interface IndexSize {
  name: string;
  columns: string;
  megabytes: number;
  hasFollow: boolean;
}

interface Sizes {
  version: Version['name'];
  tableMegabytes: number;
  indexes: IndexSize[];
}

const goals = { ofTable: 1, entriesPerFollow: 7 };

/** Measures the table and each index, and counts the index entries of a follow event. */
export async function measureIndexSizes({ versions }: BenchBed): Promise<Section> {
  const sizes: Sizes[] = [];
  for (const version of versions) {
    const url = await version.stores.databaseOf('filled');
    // Starting the service creates its indexes.
    sizes.push(await withSystem(version, url, () => readSizes(version.name, url)));
  }
  return print(sizes);
}

async function readSizes(version: Version['name'], url: string): Promise<Sizes> {
  const useSchema = 'SET search_path = events';
  const indexes = await runSql<{ name: string; columns: string; predicate: string | null; bytes: string }>(
    url,
    useSchema,
    `SELECT i.indexrelid::regclass::text AS name, pg_get_expr(i.indpred, i.indrelid) AS predicate,
       regexp_replace(pg_get_indexdef(i.indexrelid), '.* USING ', '') AS columns,
       (SELECT coalesce(sum(pg_relation_size(inhrelid)), 0) FROM pg_inherits WHERE inhparent = i.indexrelid) AS bytes
     FROM pg_index AS i WHERE i.indrelid = 'events'::regclass ORDER BY bytes DESC`,
  );
  // A follow event as the platform sends it. For each partial index, checks whether the event has an entry.
  const conditions = indexes.map(({ predicate }, index) => `(${predicate ?? 'true'}) AS index_${index}`);
  const [follow] = await runSql<Record<string, boolean>>(
    url,
    useSchema,
    `SELECT ${conditions.join(', ')} FROM events
     WHERE event_type = 'channel-follow' AND origin = 'platform' AND event_source = 'PlatformSub' LIMIT 1`,
  );
  const [table_] = await runSql<{ bytes: string }>(
    url,
    useSchema,
    `SELECT sum(pg_table_size(inhrelid)) AS bytes FROM pg_inherits WHERE inhparent = 'events'::regclass`,
  );
  const megabytes = (bytes = '0'): number => Number(bytes) / 1024 ** 2;
  return {
    version,
    tableMegabytes: megabytes(table_?.bytes),
    indexes: indexes.map(({ name, columns, bytes }, index) => ({
      name,
      columns,
      megabytes: megabytes(bytes),
      hasFollow: follow?.[`index_${index}`] === true,
    })),
  };
}

function print(all: readonly Sizes[]): Section {
  const [own] = all;
  if (!own) throw new Error('there is no version to measure');
  const ratio = totalOf(own) / own.tableMegabytes;
  const entries = entriesOf(own);
  return {
    title: 'Size of the indexes',
    paragraphs: [
      'Sizes in MiB over all partitions, freshly built. A partial index has entries only for the rows that its condition selects. A follow is the smallest event of a channel: an event from the platform with a channel and a viewer.',
      table(
        ['version', 'table', 'all indexes', 'indexes / table', 'index entries of a follow'],
        all.map((sizes) => [
          sizes.version,
          formatCount(sizes.tableMegabytes),
          formatCount(totalOf(sizes)),
          (totalOf(sizes) / sizes.tableMegabytes).toFixed(2),
          String(entriesOf(sizes)),
        ]),
      ),
      ...all.map(({ version, indexes }) =>
        table(
          [`index, ${version}`, 'columns', 'MiB', 'has a follow'],
          indexes.map(({ name, columns, megabytes, hasFollow }) => [
            `\`${name}\``,
            `\`${columns}\``,
            formatCount(megabytes),
            hasFollow ? 'yes' : '',
          ]),
        ),
      ),
    ],
    promises: [
      {
        promise: 'all indexes together are at most as large as the table',
        measured: `${ratio.toFixed(2)} ×`,
        isKept: ratio <= goals.ofTable,
      },
      {
        promise: `at most ${goals.entriesPerFollow} index entries per follow`,
        measured: String(entries),
        isKept: entries <= goals.entriesPerFollow,
      },
    ],
  };
}

function totalOf({ indexes }: Sizes): number {
  return indexes.reduce((sum, { megabytes }) => sum + megabytes, 0);
}

function entriesOf({ indexes }: Sizes): number {
  return indexes.filter(({ hasFollow }) => hasFollow).length;
}
