import { foldCase, textFilters, type EventFilters } from '@stream-events/contracts';
import type { LiveEvent, RecordFields } from '../stream/live-event.js';

/** The filter of a live connection: the filters of the event list, with any number of types. An event must match all of them. */
export interface LiveFilter extends Omit<EventFilters, 'eventType'> {
  /** The event must have one of these types. Empty or absent: any type. */
  eventTypes?: readonly string[];
}

type Condition = (event: LiveEvent) => boolean;

/** Compiles a filter into a test. Undefined if every event passes, so that no record has to be parsed. */
export function compileFilter(filter: LiveFilter): Condition | undefined {
  const { eventTypes = [], since = -Infinity, until = Infinity } = filter;
  const types = new Set(eventTypes);
  const wanted = wantedValues(filter);
  const isTimed = filter.since !== undefined || filter.until !== undefined;
  if (types.size === 0 && wanted.length === 0 && !isTimed) return undefined;
  return (event) =>
    (!isTimed || isWithin(event.receivedAt, since, until)) &&
    (types.size === 0 || types.has(event.fields.eventType)) &&
    wanted.every(([field, value]) => event.fields[field] === value);
}

function isWithin(time: number, since: number, until: number): boolean {
  return time >= since && time < until;
}

type WantedValue = [field: keyof RecordFields, value: string];

function wantedValues(filter: LiveFilter): WantedValue[] {
  return textFilters.flatMap(({ field, match }): WantedValue[] => {
    const value = field === 'eventType' ? undefined : filter[field];
    return value ? [[field, match === 'folded' ? foldCase(value) : value]] : [];
  });
}

/** Returns a key that is equal for filters that let the same events pass. */
export function describeFilter(filter: LiveFilter): string {
  const { eventTypes = [], ...rest } = filter;
  return JSON.stringify([[...new Set(eventTypes)].sort(), Object.entries(rest).sort()]);
}
