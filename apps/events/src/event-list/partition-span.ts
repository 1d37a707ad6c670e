import type { Partition } from '../store/partitions.js';
import type { IdRange } from './id-range.js';

/** Neighboring partitions that one statement reads. */
export interface Span {
  /** The name of the partition; null when there are several. */
  partition: string | null;
  /** The first id of the lowest partition. */
  from: string;
  /** The first id after the highest partition. */
  to: string;
}

/**
 * Returns the next partitions in the direction of paging that overlap the range; undefined when none does.
 *
 * @param partitions newest first
 * @param width the maximum number of partitions
 */
export function findSpan(
  partitions: readonly Partition[],
  range: IdRange,
  { isOlder, width }: { isOlder: boolean; width: number },
): Span | undefined {
  const overlapping = partitions.filter(({ from, to }) => from <= range.to && to > range.from);
  const next = isOlder ? overlapping.slice(0, width) : overlapping.slice(-width);
  const highest = next[0];
  const lowest = next.at(-1);
  if (!highest || !lowest) return undefined;
  return { partition: next.length === 1 ? highest.name : null, from: lowest.from, to: highest.to };
}
