import { eventIndexes, primaryKey, secondaryIndexes } from './event-indexes.js';
import type { CatalogIndex, IndexCatalog } from './index-catalog.js';
import { isConcurrent, planIndexes, toStatement, type IndexStep } from './index-plan.js';

const partitions = ['events_2025_02', 'events_2025_01'];
const [first, second] = secondaryIndexes;
if (!first || !second) throw new Error('there are no secondary indexes');

/** The tests only compare definitions, so any text will do. */
const definitionOf = (name: string): string => `USING btree (${name})`;

function onEvents(name: string): CatalogIndex {
  return { table: 'events', name, definition: definitionOf(name), isValid: true, parent: null };
}

function onPartition(table: string, name: string, changes: Partial<CatalogIndex> = {}): CatalogIndex {
  const definition = definitionOf(name);
  return { table, name: `${table}_${name}`, definition, isValid: true, parent: name, ...changes };
}

/** All declared indexes on `events` and its partitions, as `change` returns them. */
function catalog(change: (index: CatalogIndex) => CatalogIndex[] = (index) => [index]): IndexCatalog {
  const indexes = eventIndexes.flatMap(({ name }) => [
    onEvents(name),
    ...partitions.map((partition) => onPartition(partition, name)),
  ]);
  return { partitions, indexes: indexes.flatMap(change) };
}

describe(planIndexes.name, () => {
  it('needs no step when every partition has every index', () => {
    expect(planIndexes(catalog())).toEqual({
      steps: [],
      ready: new Set(eventIndexes.map(({ name }) => name)),
    });
  });

  it('only declares the indexes of a store without partitions', () => {
    const { steps } = planIndexes({ partitions: [], indexes: [onEvents(primaryKey.name)] });

    expect(steps).toEqual(secondaryIndexes.map((index) => ({ kind: 'declare', index })));
  });

  it('declares all indexes before it builds the first, so that new partitions get them', () => {
    const { steps } = planIndexes(
      catalog((index) => (index.name === primaryKey.name || index.parent === primaryKey.name ? [index] : [])),
    );

    expect(steps.slice(0, secondaryIndexes.length)).toEqual(
      secondaryIndexes.map((index) => ({ kind: 'declare', index })),
    );
    expect(steps.slice(secondaryIndexes.length)).toEqual(
      secondaryIndexes.flatMap((index) =>
        partitions.map((partition) => ({ kind: 'build', index, partition })),
      ),
    );
  });

  it.each([
    ['builds a missing index', [], 'build'],
    ['attaches an index that is built', [{ parent: null }], 'attach'],
    ['discards what an interrupted build has left', [{ parent: null, isValid: false }], 'discard'],
    ['builds when an unattached index has another definition', [{ parent: null, definition: 'USING btree (id)' }], 'build'], // prettier-ignore
  ])('%s', (_, changes, kind) => {
    const isMissing = (index: CatalogIndex) =>
      index.table === 'events_2025_01' && index.parent === first.name;

    const { steps, ready } = planIndexes(
      catalog((index) => (isMissing(index) ? changes.map((change) => ({ ...index, ...change })) : [index])),
    );

    expect(steps).toMatchObject([{ kind, index: first, partition: 'events_2025_01' }]);
    expect(ready.has(first.name)).toBe(false);
    expect(ready.has(second.name)).toBe(true);
  });
});

describe(toStatement.name, () => {
  const user = secondaryIndexes.find(({ column }) => column === 'user_id');
  if (!user) throw new Error('there is no index on user_id');
  const partition = 'events_2025_01';
  const statements: [IndexStep, string][] = [
    [
      { kind: 'declare', index: user },
      'CREATE INDEX events_user_id_event_type_index ON ONLY events USING btree (user_id, event_type, id) WHERE user_id IS NOT NULL',
    ],
    [
      { kind: 'build', index: user, partition },
      'CREATE INDEX CONCURRENTLY ON events_2025_01 USING btree (user_id, event_type, id) WHERE user_id IS NOT NULL',
    ],
    [{ kind: 'discard', index: user, partition, name: 'half' }, 'DROP INDEX CONCURRENTLY IF EXISTS half'],
    [
      { kind: 'attach', index: user, partition, name: 'built' },
      'ALTER INDEX events_user_id_event_type_index ATTACH PARTITION built',
    ],
  ];

  it.each(statements)('prints the SQL of %j', (step, sql) => {
    expect(toStatement(step)).toBe(sql);
  });

  it('has a lock timeout for every statement that locks out others', () => {
    for (const [step] of statements)
      expect(isConcurrent(step)).toBe(toStatement(step).includes('CONCURRENTLY'));
  });
});
