import { indexDefinition, primaryKey, secondaryIndexes, type EventIndex } from './event-indexes.js';
import type { CatalogIndex, IndexCatalog } from './index-catalog.js';

/** One statement that brings the store closer to the declared indexes. */
export type IndexStep =
  /** Creates the index on `events` alone. Later partitions get the index when they are created. */
  | { kind: 'declare'; index: EventIndex }
  /** Builds the index of one partition while events arrive. */
  | { kind: 'build'; index: EventIndex; partition: string }
  /** Drops the invalid index of an interrupted build. */
  | { kind: 'discard'; index: EventIndex; partition: string; name: string }
  /** Makes a finished index part of the index on `events`. */
  | { kind: 'attach'; index: EventIndex; partition: string; name: string };

/** Which indexes are ready, and the steps that build the others. */
export interface IndexPlan {
  ready: ReadonlySet<string>;
  /** Only the first step is certain: each step may lead to another one for the same partition. */
  steps: readonly IndexStep[];
}

/**
 * Compares the existing indexes with the declared ones. Returns the steps that build the missing indexes.
 *
 * ```
 *                  ┌─ interrupted: discard ─┐
 *                  ▼                        │
 * declare ──▶ missing on a partition ──▶ build ──▶ attach ──▶ ready on all partitions
 * ```
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
  return { ready, steps: [...declarations, ...builds] };
}

/** Returns the next step for an index on a partition; undefined when none is left. */
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

/** PostgreSQL chooses the names of indexes on partitions, as it does for new partitions. */
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
  }
}

/** Whether the step waits for other sessions without blocking them. All other steps are short, but block readers or writers. */
export function isConcurrent({ kind }: IndexStep): boolean {
  return kind === 'build' || kind === 'discard';
}
