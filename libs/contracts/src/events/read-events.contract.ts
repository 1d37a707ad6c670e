import { Type } from 'class-transformer';
import {
  IsArray,
  IsIn,
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

const FilterFields: new () => EventFilterValues = class {};
for (const { field } of textFilters) declareField(field, IsString());
for (const { field } of timeFilters) declareField(field, IsInt());

function declareField(field: string, isValid: PropertyDecorator): void {
  IsOptional()(FilterFields.prototype as object, field); // Safe cast: every class has a prototype.
  isValid(FilterFields.prototype as object, field);
}

/** The filters of the event list. An event must match all of them. Times are milliseconds since 1970. */
export class EventFilters extends FilterFields {}

export class ListEventsRequest extends PageRequest {
  @IsObject()
  @ValidateNested()
  @Type(() => EventFilters)
  filters!: EventFilters;
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
  /** Newest first. Fewer than `pageSize`, or none, when the page has used up its budget of bytes or rows. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoredEventMessage)
  events!: StoredEventMessage[];
}

/** Lists one page of events. */
export const listEvents = defineContract({
  subject: 'request.events.list',
  request: ListEventsRequest,
  reply: ListEventsReply,
  errors: [],
  timeoutMs: 5_000,
});

export class GetEventRequest {
  /** The `id` or the `event_id` of an event. An `event_id` can be any text. */
  @IsText(1, 255)
  id!: string;
}

/** Returns one event. */
export const getEvent = defineContract({
  subject: 'request.events.get',
  request: GetEventRequest,
  reply: StoredEventMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
