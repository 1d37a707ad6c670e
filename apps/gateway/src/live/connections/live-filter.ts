import {
  compileConditions,
  toConditions,
  toLimitConditions,
  type EventFilters,
  type ReadLimits,
} from '@stream-events/contracts';
import type { LiveEvent } from '../stream/live-event.js';

/**
 * The filter of a live connection. Unlike in a filter of the event list, `eventType` can have several values. The filter also includes the
 * read limits of the client's token. An event must match all fields.
 */
export interface LiveFilter extends Omit<EventFilters, 'eventType'> {
  /** The event must have one of these types. Empty or absent: any type. */
  eventType?: readonly string[];
  /** The events that the client may see. Absent: all events. */
  limits?: ReadLimits | undefined;
}

type Condition = (event: LiveEvent) => boolean;

/** Compiles a filter into a test. Returns undefined if every event passes, which saves parsing the records. */
export function compileFilter(filter: LiveFilter): Condition | undefined {
  const { since = -Infinity, until = Infinity, limits = {} } = filter;
  const conditions = [...toConditions(filter), ...toLimitConditions(limits)];
  const isTimed = filter.since !== undefined || filter.until !== undefined;
  const isInTime: Condition = ({ receivedAt }) => !isTimed || (receivedAt >= since && receivedAt < until);
  if (conditions.length === 0) return isTimed ? isInTime : undefined;
  const meetsConditions = compileConditions(conditions);
  return (event) => isInTime(event) && meetsConditions(event.fields);
}

/** Returns a key for a filter. Filters with equal keys let the same events pass. */
export function describeFilter({ limits = {}, ...filter }: LiveFilter): string {
  return JSON.stringify([sortFields(filter), sortFields(limits)]);
}

function sortFields(fields: object): [string, unknown][] {
  const entries = Object.entries(fields).map(([field, value]: [string, unknown]): [string, unknown] => [
    field,
    Array.isArray(value) ? [...new Set<unknown>(value)].sort() : value,
  ]);
  return entries.sort(([one], [other]) => (one < other ? -1 : 1));
}
