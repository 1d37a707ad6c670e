import { firstIdAt } from '@stream-events/contracts';

/** A partition of `events`: its name and its range of ids (`from` is inclusive, `to` is exclusive). */
export interface Partition {
  name: string;
  from: string;
  to: string;
}

/** Returns the monthly partition (UTC) for events received at this time. */
export function partitionAt(milliseconds: number): Partition {
  const time = new Date(milliseconds);
  const year = time.getUTCFullYear();
  const month = time.getUTCMonth();
  return {
    name: `events_${year}_${String(month + 1).padStart(2, '0')}`,
    from: firstIdAt(Date.UTC(year, month)),
    to: firstIdAt(Date.UTC(year, month + 1)),
  };
}

/** Returns the partitions that must exist at this time: the current month's and the next month's. */
export function partitionsAhead(milliseconds: number): Partition[] {
  const current = partitionAt(milliseconds);
  const time = new Date(milliseconds);
  return [current, partitionAt(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1))];
}
