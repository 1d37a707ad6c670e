import {
  indexDefinition,
  primaryKey,
  retiredIndexes,
  secondaryIndexes,
  type EventIndex,
} from '../store/event-indexes.js';
import type { CatalogIndex, IndexCatalog } from './index-catalog.js';

/** One statement of the way to the declared indexes. */
export type IndexStep =
  /** Creates the index on `events` alone. Partitions that are created later get it at once. */
  | { kind: 'declare'; index: EventIndex }
  /** Builds the index of one partition, while events arrive. */
  | { kind: 'build'; index: EventIndex; partition: string }
  /** Drops what an interrupted build has left. */
  | { kind: 'discard'; index: EventIndex; partition: string; name: string }
  /** Makes a built index part of the index on `events`. */
  | { kind: 'attach'; index: EventIndex; partition: string; name: string }
  /** Drops an index of an earlier version, with its parts on all partitions. */
  | { kind: 'drop'; name: string };

/** The indexes that can be used, and the steps to the others. */
export interface IndexPlan {
  ready: ReadonlySet<string>;
  /** Only the first step is certain: a step may be followed by another one for the same partition. */
  steps: readonly IndexStep[];
}

/**
 * Compares the indexes that exist with the declared ones.
 *
 * ```
 *                  ┌─ interrupted: discard ─┐
 *                  ▼                        │
 * declare ──▶ missing on a partition ──▶ build ──▶ attach ──▶ ready on all partitions
 *                                                               │ all indexes are ready
 *                                                               ▼
 *                                                      drop the retired indexes
 * ```
 *
 * Old indexes go last, because instances of the earlier version use them until they are replaced.
 */
export function planIndexes({ partitions, indexes }: IndexCatalog): IndexPlan {
  const ready = new Set([primaryKey.name]);
  const declarations: IndexStep[] = [];
  const builds: IndexStep[] = [];
  const byTable = groupByTable(indexes);
  const ofEvents = new Map(byTable.get('events')?.map((index) => [index.name, index]));
  for (const index of secondaryIndexes) {
    const declared = ofEvents.get(index.name);
    const missing = partitions.flatMap(
      (partition) => planPartition({ index, partition }, declared, byTable.get(partition) ?? []) ?? [],
    );
    if (!declared) declarations.push({ kind: 'declare', index });
    else if (missing.length === 0) ready.add(index.name);
    builds.push(...missing);
  }
  const drops = retiredIndexes
    .filter((name) => ofEvents.has(name))
    .map((name): IndexStep => ({ kind: 'drop', name }));
  return { ready, steps: [...declarations, ...builds, ...drops] };
}

/** The next step of an index on a partition; undefined when the partition has it. */
function planPartition(
  place: { index: EventIndex; partition: string },
  declared: CatalogIndex | undefined,
  ofPartition: readonly CatalogIndex[],
): IndexStep | undefined {
  if (ofPartition.some(({ parent }) => parent === place.index.name)) return undefined;
  const found = ofPartition.find(
    ({ parent, definition }) => parent === null && definition === declared?.definition,
  );
  if (!found) return { kind: 'build', ...place };
  return { kind: found.isValid ? 'attach' : 'discard', name: found.name, ...place };
}

function groupByTable(indexes: readonly CatalogIndex[]): Map<string, CatalogIndex[]> {
  const groups = new Map<string, CatalogIndex[]>();
  for (const index of indexes) {
    const group = groups.get(index.table);
    if (group) group.push(index);
    else groups.set(index.table, [index]);
  }
  return groups;
}

/** The SQL of a step. PostgreSQL names the indexes of partitions, as it does when a partition is created. */
export function toStatement(step: IndexStep): string {
  switch (step.kind) {
    case 'declare':
      return `CREATE INDEX ${step.index.name} ON ONLY events ${indexDefinition(step.index)}`;
    case 'build':
      return `CREATE INDEX CONCURRENTLY ON ${step.partition} ${indexDefinition(step.index)}`;
    case 'discard':
      return `DROP INDEX CONCURRENTLY IF EXISTS ${step.name}`;
    case 'attach':
      return `ALTER INDEX ${step.index.name} ATTACH PARTITION ${step.name}`;
    case 'drop':
      return dropStatement(step.name);
  }
}

/**
 * Dropping an index of `events` locks all partitions, in the order of their creation. A page of a list locks the partition that it reads,
 * and then each empty partition for a moment, to read its size. This statement locks the empty partitions last, so that it and a page never
 * wait for each other.
 */
function dropStatement(name: string): string {
  return `DO $$
    DECLARE tables text;
    BEGIN
      LOCK TABLE ONLY events IN ACCESS EXCLUSIVE MODE;
      SELECT string_agg(inhrelid::regclass::text, ', ' ORDER BY pg_relation_size(inhrelid) = 0) INTO tables
        FROM pg_inherits WHERE inhparent = 'events'::regclass;
      IF tables IS NOT NULL THEN EXECUTE 'LOCK TABLE ' || tables || ' IN ACCESS EXCLUSIVE MODE'; END IF;
      DROP INDEX IF EXISTS ${name};
    END $$`;
}

/** Whether a step waits for others without making them wait. All other steps are short, but lock out readers or writers. */
export function isConcurrent({ kind }: IndexStep): boolean {
  return kind === 'build' || kind === 'discard';
}
