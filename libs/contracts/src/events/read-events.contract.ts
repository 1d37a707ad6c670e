import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInstance,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { PageReply, PageRequest } from '../list-page.js';
import { IsText } from '../text.js';
import { textFilters, timeFilters, type EventFilterValues } from './event-filters.js';
import { eventOrigins, type EventOrigin, type StoredEvent } from './event-record.js';
import { listEventsFormat } from './list-events-format.js';
import { IsReadLimits, type ReadLimits } from './read-limits.js';

const FilterFields: new () => EventFilterValues = class {};
for (const { field, maxValues } of textFilters)
  if (maxValues === undefined) declareField(field, IsString());
  else declareField(field, IsArray(), ArrayMaxSize(maxValues), IsString({ each: true }));
for (const { field } of timeFilters) declareField(field, IsInt());

function declareField(field: string, ...rules: PropertyDecorator[]): void {
  // Safe cast: every class has a prototype.
  for (const rule of [IsOptional(), ...rules]) rule(FilterFields.prototype as object, field);
}

/** Filters of the event list. An event must match all of them. Times are milliseconds since 1970. */
export class EventFilters extends FilterFields {}

export class ListEventsRequest extends PageRequest {
  @IsObject()
  @ValidateNested()
  @Type(() => EventFilters)
  filters!: EventFilters;

  /** The events that the reader may see. */
  @IsReadLimits()
  limits!: ReadLimits;

  /** Requests records instead of events. */
  @IsOptional()
  @IsBoolean()
  records?: boolean;
}

export class StoredEventMessage implements StoredEvent {
  @IsUUID()
  id!: string;

  @IsOptional()
  @IsString()
  eventId!: string | null;

  @IsString()
  eventType!: string;

  @IsString()
  eventSource!: string;

  @IsIn(eventOrigins)
  origin!: EventOrigin;

  @IsString()
  eventData!: string;

  @IsOptional()
  @IsInt()
  occurredAt?: number | null | undefined;
}

export class ListEventsReply extends PageReply {
  /** Newest first. A page that reaches its size or time limit has fewer than `pageSize` events, or none, and more can follow. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoredEventMessage)
  events!: StoredEventMessage[];

  /** The page's records as the JSON text of an array, if the request asked for records; `events` is then empty. Otherwise, no bytes. */
  @IsInstance(Uint8Array)
  records!: Uint8Array;
}

/** Lists a page of events. */
export const listEvents = defineContract({
  subject: 'request.events.list',
  request: ListEventsRequest,
  reply: ListEventsReply,
  errors: [],
  timeoutMs: 5_000,
  rawReply: listEventsFormat,
});

export class GetEventRequest {
  /** An event's `id`, or its `event_id`, which can be any text. */
  @IsText(1, 255)
  id!: string;

  /** The events that the reader may see. */
  @IsReadLimits()
  limits!: ReadLimits;
}

/** Returns one event. */
export const getEvent = defineContract({
  subject: 'request.events.get',
  request: GetEventRequest,
  reply: StoredEventMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
