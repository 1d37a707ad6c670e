import type { components, paths } from './api.js';
import type { EventData } from './event-data.js';

type Schemas = components['schemas'];

/** An event record from the REST API or live delivery. */
export interface EventRecord extends Omit<Schemas['EventRecord'], 'origin'> {
  /** `replay` marks a stored event that was sent to live clients again. The REST API lists that event with its original origin. */
  origin: (Schemas['EventRecord'] | Schemas['ReplayedEventRecord'])['origin'];
}

/** An event type that the platform defines. */
export type PlatformEventType = keyof EventData;

/** A record of this event type. `event_data` has the fields that the platform documents, and can have more. */
export type EventOf<Type extends PlatformEventType> = EventRecord & {
  event_type: Type;
  event_data: EventData[Type];
};

/**
 * Stands for any other event type. TypeScript cannot subtract types from `string`, but it knows that an enum value never equals one of the
 * platform's types.
 */
declare enum OtherEventType {
  Any = 'any other type',
}

/** A record whose type is not in `EventData`: a client defined the type, or the platform added it later. */
export type OtherEvent = EventRecord & { event_type: OtherEventType };

interface Positioned {
  /** Position in the stream. Pass it as `after` to resume after this event. Undefined for replays. */
  position: string | undefined;
}

/**
 * A record with its position. Comparing `event_type` with a platform type narrows `event_data` to that type's data. To compare it with any
 * other type, treat the event as an `EventRecord`.
 */
export type LiveEvent = Positioned &
  ({ [Type in PlatformEventType]: EventOf<Type> }[PlatformEventType] | OtherEvent);

/** Whether a record has this event type. Narrows `event_data`. */
export function isEventOf<Type extends PlatformEventType>(
  event: EventRecord,
  type: Type,
): event is EventOf<Type> {
  return event.event_type === type;
}

type ListParameters = NonNullable<paths['/api/v1/platform-events']['get']['parameters']['query']>;

/** The filters of the event list. An event must match all of them. `event_type` can be a list. */
export type LiveFilters = Partial<
  Record<Exclude<keyof ListParameters, 'cursor' | 'page_size' | 'event_type'>, string | undefined>
> & { event_type?: string | readonly string[] | undefined };

/** Returns the query string of a request for live events, including the question mark. */
export function printLiveQuery(filters: LiveFilters, name: string | undefined, controls: boolean): string {
  const query = new URLSearchParams();
  const options = { ...filters, name, ...(controls && { controls: 'true' }) };
  for (const [parameter, value] of Object.entries(options))
    for (const one of [value].flat()) if (one !== undefined) query.append(parameter, one);
  const text = query.toString();
  return text && `?${text}`;
}
