import { randomBytes } from 'node:crypto';
import { firstIdAt, receivedAt, type ListEventsRequest } from '@stream-events/contracts';

/** A range of ids, both ends inclusive. */
export interface IdRange {
  from: string;
  to: string;
}

const lowestId = '00000000-0000-0000-0000-000000000000';
const highestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Returns the ids that a page may contain: from its position to the end of the list, within the time filters. Returns null when no id is
 * possible.
 */
export function rangeOf({
  filters,
  position,
}: Pick<ListEventsRequest, 'filters' | 'position'>): IdRange | null {
  const { since, until } = filters;
  const range: IdRange = {
    from: since === undefined ? lowestId : firstIdAt(since),
    to: until === undefined ? highestId : idBefore(firstIdAt(until)),
  };
  if (until !== undefined && until <= 0) return null;
  if (!position) return orNull(range);
  const id = position.id.toLowerCase();
  if (position.direction === 'older')
    return position.inclusive ? orNull({ ...range, to: min(range.to, id) }) : rangeBelow(range, id);
  return position.inclusive ? orNull({ ...range, from: max(range.from, id) }) : rangeAbove(range, id);
}

/** Returns the part of a range below an id, or null when that part is empty. */
export function rangeBelow(range: IdRange, id: string): IdRange | null {
  return id === lowestId ? null : orNull({ from: range.from, to: min(range.to, idBefore(id)) });
}

/** Returns the part of a range above an id, or null when that part is empty. */
export function rangeAbove(range: IdRange, id: string): IdRange | null {
  return id === highestId ? null : orNull({ from: max(range.from, idAfter(id)), to: range.to });
}

/** Returns the ids that two ranges share, or null when they share none. */
export function intersect(one: IdRange, other: IdRange): IdRange | null {
  return orNull({ from: max(one.from, other.from), to: min(one.to, other.to) });
}

/**
 * Returns an id that separates the events below `boundary` (the first id of a millisecond) from the events at or above it. The next page
 * continues there, because this page has read the partition up to the boundary. `boundary` itself is not a valid UUID, so no request may
 * contain it. All event ids have version 7. Within a millisecond, an id of version 8 sorts after all of them, and an id of version 1 sorts
 * before them.
 */
export function positionAt(boundary: string, isOlder: boolean): string {
  return isOlder
    ? `${firstIdAt(receivedAt(boundary) - 1).slice(0, 14)}8000-8000-000000000000`
    : `${boundary.slice(0, 14)}1000-8000-000000000000`;
}

/**
 * Returns a random id between the ids of two events, which is practically never the id of an event. If no id fits between the two, returns
 * the higher one. The random id has version 8 when the two ids differ in their milliseconds, and version 7 when they share a millisecond.
 */
export function idBetween(one: string, other: string): string {
  const [low, high] = [min(one, other), max(one, other)];
  const [lowTime, highTime] = [receivedAt(low), receivedAt(high)];
  if (lowTime < highTime) {
    const time = firstIdAt(lowTime + Math.floor(Math.random() * (highTime - lowTime)));
    return printId(parseId(`${time.slice(0, 14)}8000-8000-000000000000`) | randomBits(62));
  }
  const [first, last] = [parseRandomBits(low), parseRandomBits(high)];
  if (last - first < 2n) return high;
  const bits = first + 1n + (randomBits(128) % (last - first - 1n));
  return printId((parseId(low) & ~randomBitsMask) | ((bits >> 62n) << 64n) | (bits & lowBitsMask));
}

// An id of version 7 has 12 random bits, the two bits of the variant, and 62 random bits after its time and version.
const lowBitsMask = (1n << 62n) - 1n;
const randomBitsMask = (0xfffn << 64n) | lowBitsMask;

/** Returns the random bits, which order the ids within a millisecond. */
function parseRandomBits(id: string): bigint {
  const number = parseId(id);
  return (((number >> 64n) & 0xfffn) << 62n) | (number & lowBitsMask);
}

function randomBits(count: number): bigint {
  return BigInt(`0x${randomBytes(16).toString('hex')}`) & ((1n << BigInt(count)) - 1n);
}

function idBefore(id: string): string {
  return printId(parseId(id) - 1n);
}

function idAfter(id: string): string {
  return printId(parseId(id) + 1n);
}

function parseId(id: string): bigint {
  return BigInt(`0x${id.replaceAll('-', '')}`);
}

function printId(number: bigint): string {
  const hex = (number < 0n ? 0n : number).toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

function orNull(range: IdRange): IdRange | null {
  return range.from <= range.to ? range : null;
}

function min(one: string, other: string): string {
  return one < other ? one : other;
}

function max(one: string, other: string): string {
  return one > other ? one : other;
}
