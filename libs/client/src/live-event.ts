import type { components, paths } from './api.js';

type Schemas = components['schemas'];

/** An event record, from the REST API or live. */
export interface EventRecord extends Omit<Schemas['EventRecord'], 'origin'> {
  /** `replay`: a stored event that is sent to live clients again. The REST API lists it with its original origin. */
  origin: (Schemas['EventRecord'] | Schemas['ReplayedEventRecord'])['origin'];
}

/** A live event: the record with its position. */
export interface LiveEvent extends EventRecord {
  /** Position in the stream. To resume after this event, pass it as `after`. Undefined for a replay. */
  position: string | undefined;
}

type ListParameters = NonNullable<paths['/api/v1/platform-events']['get']['parameters']['query']>;

/** The filters of the event list. An event must match all of them; `event_type` can be a list of types. */
export type LiveFilters = Partial<
  Record<Exclude<keyof ListParameters, 'cursor' | 'page_size' | 'event_type'>, string | undefined>
> & { event_type?: string | readonly string[] | undefined };

/** Returns the query of a request for live events, with its question mark. */
export function printLiveQuery(filters: LiveFilters, name: string | undefined, controls: boolean): string {
  const query = new URLSearchParams();
  const options = { ...filters, name, ...(controls && { controls: 'true' }) };
  for (const [parameter, value] of Object.entries(options))
    for (const one of [value].flat()) if (one !== undefined) query.append(parameter, one);
  const text = query.toString();
  return text && `?${text}`;
}
