import {
  indexDefinition,
  primaryKey,
  retiredIndexes,
  secondaryIndexes,
  type EventIndex,
} from '../store/event-indexes.js';
import type { CatalogIndex, IndexCatalog } from './index-catalog.js';

/** One statement that brings the store closer to the declared indexes. */
export type IndexStep =
  /** Creates the index on `events` alone. Partitions that are created later get the index immediately. */
  | { kind: 'declare'; index: EventIndex }
  /** Builds the index of one partition, while events arrive. */
  | { kind: 'build'; index: EventIndex; partition: string }
  /** Drops the invalid index of an interrupted build. */
  | { kind: 'discard'; index: EventIndex; partition: string; name: string }
  /** Makes a built index part of the index on `events`. */
  | { kind: 'attach'; index: EventIndex; partition: string; name: string }
  /** Drops an index of an earlier version, with its parts on all partitions. */
  | { kind: 'drop'; name: string };

/** The indexes that are ready, and the steps that the other indexes still need. */
export interface IndexPlan {
  ready: ReadonlySet<string>;
  /** Only the first step is certain, because each step may be followed by another step for the same partition. */
  steps: readonly IndexStep[];
}

/**
 * Compares the existing indexes with the declared indexes. Returns the steps to build the missing indexes and to drop the retired indexes.
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
 * Retired indexes are dropped last, because instances of the earlier version use them until these instances are replaced.
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

/** Returns the next step for an index on a partition; undefined when the partition has the index. */
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

/** Returns the SQL of a step. PostgreSQL chooses the names of indexes on partitions, as it does when a partition is created. */
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
 * Returns the SQL that drops an index of `events`. DROP INDEX alone would lock all partitions, in the order of their creation. A page of a
 * list locks the partition that it reads, and then each empty partition for a moment, to read its size. This statement locks the empty
 * partitions last, so that the statement and a page rarely wait for each other.
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

/** Whether a step waits for other sessions without making them wait. All other steps are short, but lock out readers or writers. */
export function isConcurrent({ kind }: IndexStep): boolean {
  return kind === 'build' || kind === 'discard';
}
