import { firstIdAt, receivedAt } from '@stream-events/contracts';
import type { PartitionWidth } from './retention-policy.js';

/** A partition of `events`: its name and its range of ids (`from` is inclusive, `to` is exclusive). */
export interface Partition {
  name: string;
  from: string;
  to: string;
}

// Daily partitions are created this many days ahead. If partitions cannot be created, the logs show the failure, and events can still be
// stored for this long.
const daysAhead = 7;

/** Returns the partition that contains the id. */
export function findPartition<P extends Partition>(id: string, partitions: readonly P[]): P | undefined {
  return partitions.find(({ from, to }) => from <= id && id < to);
}

/**
 * Plans the partition for an id that no existing partition contains: the day or the month (UTC) in which the event was received. The
 * partition begins where an existing one ends, and ends where an existing one begins, because RETENTION_DAYS can change the width.
 */
export function planPartition(id: string, width: PartitionWidth, existing: readonly Partition[]): Partition {
  const period = periodAt(receivedAt(id), width);
  let from = firstIdAt(period.from);
  let to = firstIdAt(period.to);
  for (const other of existing) {
    if (other.to <= id && other.to > from) from = other.to;
    if (other.from > id && other.from < to) to = other.from;
  }
  return { name: nameOf(from, width), from, to };
}

/** Returns the id up to which partitions must exist at `now`: at the end of the next month or, if partitions are daily, a week later. */
export function endOfPartitionsAhead(now: number, width: PartitionWidth): string {
  const time = new Date(now);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  return firstIdAt(
    width === 'month' ? Date.UTC(year, month + 2) : Date.UTC(year, month, day + daysAhead + 1),
  );
}

function periodAt(milliseconds: number, width: PartitionWidth): { from: number; to: number } {
  const time = new Date(milliseconds);
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()];
  return width === 'month'
    ? { from: Date.UTC(year, month), to: Date.UTC(year, month + 1) }
    : { from: Date.UTC(year, month, day), to: Date.UTC(year, month, day + 1) };
}

/**
 * Returns the name of a partition, which contains the month or the day when the partition begins. The name of a monthly partition that
 * begins in the middle of a month also contains the day.
 */
function nameOf(from: string, width: PartitionWidth): string {
  const time = new Date(receivedAt(from));
  const month = `events_${time.getUTCFullYear()}_${twoDigits(time.getUTCMonth() + 1)}`;
  const day = time.getUTCDate();
  return width === 'month' && day === 1 ? month : `${month}_${twoDigits(day)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
