import { foldCase, textFilters, type EventFilters } from '@stream-events/contracts';
import type { LiveEvent, RecordFields } from '../stream/live-event.js';

/** What a client wants of the live events: the filters of the list, but several types. All given ones must match. */
export interface LiveFilter extends Omit<EventFilters, 'eventType'> {
  /** One of these; any when empty or absent. */
  eventTypes?: readonly string[];
}

type Condition = (event: LiveEvent) => boolean;

/** Makes the test of a filter; undefined when every event passes, so that no record needs to be read. */
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

/** The same text for filters that let the same events pass. */
export function describeFilter(filter: LiveFilter): string {
  const { eventTypes = [], ...rest } = filter;
  return JSON.stringify([[...new Set(eventTypes)].sort(), Object.entries(rest).sort()]);
}
