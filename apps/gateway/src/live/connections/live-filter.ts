import { toConditions, type EventFilters } from '@stream-events/contracts';
import type { LiveEvent } from '../stream/live-event.js';

/** The filter of a live connection: the filters of the event list, with any number of types. An event must match all of them. */
export interface LiveFilter extends Omit<EventFilters, 'eventType'> {
  /** The event must have one of these types. Empty or absent: any type. */
  eventType?: readonly string[];
}

type Condition = (event: LiveEvent) => boolean;

/** Compiles a filter into a test. Undefined if every event passes, so that no record has to be parsed. */
export function compileFilter(filter: LiveFilter): Condition | undefined {
  const { since = -Infinity, until = Infinity } = filter;
  const conditions = toConditions(filter).map(({ columns, values }) => ({
    fields: columns.map(({ field }) => field),
    values: new Set<unknown>(values),
  }));
  const isTimed = filter.since !== undefined || filter.until !== undefined;
  if (conditions.length === 0 && !isTimed) return undefined;
  return (event) =>
    (!isTimed || isWithin(event.receivedAt, since, until)) &&
    conditions.every(({ fields, values }) => fields.some((field) => values.has(event.fields[field])));
}

function isWithin(time: number, since: number, until: number): boolean {
  return time >= since && time < until;
}

/** Returns a key that is equal for filters that let the same events pass. */
export function describeFilter(filter: LiveFilter): string {
  const entries = Object.entries(filter).map(([field, value]: [string, unknown]): [string, unknown] => [
    field,
    Array.isArray(value) ? [...new Set<unknown>(value)].sort() : value,
  ]);
  return JSON.stringify(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
