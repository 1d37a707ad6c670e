import { firstIdAt, receivedAt } from '@stream-events/contracts';
import type { PartitionWidth } from './retention-policy.js';

/** A partition of `events` with its range of ids: `from` is inclusive, `to` is exclusive. */
export interface Partition {
  name: string;
  from: string;
  to: string;
}

// How many days ahead daily partitions exist. If creating partitions fails, events can still be stored for this long, and the logs show the
// failure.
const daysAhead = 7;

/** Returns the partition that contains the id. */
export function findPartition<P extends Partition>(id: string, partitions: readonly P[]): P | undefined {
  return partitions.find(({ from, to }) => from <= id && id < to);
}

/**
 * Plans a partition for an id that no partition contains: the day or month (UTC) of receipt. Cuts the range off at existing partitions,
 * which may have another width because RETENTION_DAYS has changed.
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

/**
 * Returns the id up to which partitions must exist at `now`. Monthly partitions must exist until the end of the next month, daily ones
 * until the end of the seventh day after today.
 */
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
 * Names a partition after the month or day in which it begins. A monthly partition that begins in mid-month also has the day in its name.
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
