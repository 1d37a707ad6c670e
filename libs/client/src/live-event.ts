import type { components, paths } from './api.js';

/** An event, as the API prints it. */
export type EventRecord = components['schemas']['EventRecord'];

/** An event as it comes live. */
export interface LiveEvent extends Omit<EventRecord, 'origin'> {
  /** As in the list; `replay`: it was sent before, and somebody has it sent once more. */
  origin: EventRecord['origin'] | 'replay';
  /** Its place: what `after` takes to go on behind it. A replay has none. */
  position: string | undefined;
}

type ListParameters = NonNullable<paths['/api/v1/platform-events']['get']['parameters']['query']>;

/** Which events are wanted: the filters of the list, all of which must match. Of `event_type` several can be wanted. */
export type LiveFilters = Partial<
  Record<Exclude<keyof ListParameters, 'cursor' | 'page_size' | 'event_type'>, string | undefined>
> & { event_type?: string | readonly string[] | undefined };

/** The path of the stream with its query. */
export function printStreamPath(filters: LiveFilters, name: string | undefined): string {
  const query = new URLSearchParams();
  for (const [parameter, value] of Object.entries({ ...filters, name }))
    for (const one of [value].flat()) if (one !== undefined) query.append(parameter, one);
  const text = query.toString();
  return `/api/v1/platform-events/stream${text && `?${text}`}`;
}
