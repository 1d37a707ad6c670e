import type { components, paths } from './api.js';
import type { EventData } from './event-data.js';

type Schemas = components['schemas'];

/** An event record, from the REST API or live. */
export interface EventRecord extends Omit<Schemas['EventRecord'], 'origin'> {
  /** `replay`: a stored event that is sent to live clients again. The REST API lists it with its original origin. */
  origin: (Schemas['EventRecord'] | Schemas['ReplayedEventRecord'])['origin'];
}

/** A type of event that the platform defines. */
export type PlatformEventType = keyof EventData;

/** The record of an event of this type. `event_data` has the fields that the platform documents, and can have more. */
export type EventOf<Type extends PlatformEventType> = EventRecord & {
  event_type: Type;
  event_data: EventData[Type];
};

/**
 * Any text other than the platform's event types. TypeScript cannot exclude texts from `string`, but it knows that no enum value equals one
 * of these types.
 */
declare enum OtherEventType {
  Any = 'any other type',
}

/** The record of an event whose type `EventData` does not define: a client posted the event, or the platform added the type later. */
export type OtherEvent = EventRecord & { event_type: OtherEventType };

interface Positioned {
  /** Position in the stream. To resume after this event, pass it as `after`. Undefined for a replay. */
  position: string | undefined;
}

/**
 * A live event: the record with its position. When you compare `event_type` with one of the platform's types, TypeScript narrows
 * `event_data` to the data of that type. To compare `event_type` with another type, read the event as an `EventRecord`.
 */
export type LiveEvent = Positioned &
  ({ [Type in PlatformEventType]: EventOf<Type> }[PlatformEventType] | OtherEvent);

/** Whether a record, live or from the REST API, has this event type. */
export function isEventOf<Type extends PlatformEventType>(
  event: EventRecord,
  type: Type,
): event is EventOf<Type> {
  return event.event_type === type;
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
