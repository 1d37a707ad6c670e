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
import { eventOrigins, type EventOrigin, type StoredEvent } from './event-record.js';

/** The filters of the event list; all given ones must match. */
export class EventFilters {
  @IsOptional()
  @IsString()
  eventType?: string;

  @IsOptional()
  @IsString()
  userId?: string;

  @IsOptional()
  @IsString()
  userName?: string;

  @IsOptional()
  @IsString()
  rewardId?: string;

  @IsOptional()
  @IsString()
  raidFrom?: string;

  @IsOptional()
  @IsString()
  raidTo?: string;

  @IsOptional()
  @IsString()
  broadcasterUserId?: string;

  @IsOptional()
  @IsString()
  origin?: string;

  @IsOptional()
  @IsString()
  eventSource?: string;

  @IsOptional()
  @IsString()
  eventId?: string;

  /** Received at or after, in milliseconds since 1970. */
  @IsOptional()
  @IsInt()
  since?: number;

  /** Received before, in milliseconds since 1970. */
  @IsOptional()
  @IsInt()
  until?: number;
}

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
  /** Newest first. Maybe fewer than asked for, even none, when the page's budget of bytes or rows was used up. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoredEventMessage)
  events!: StoredEventMessage[];
}

/** One page of the event list. */
export const listEvents = defineContract({
  subject: 'request.events.list',
  request: ListEventsRequest,
  reply: ListEventsReply,
  errors: [],
  timeoutMs: 5_000,
});

export class GetEventRequest {
  /** The id of an event, or the `event_id` of one, which is text of any kind. */
  @IsText(1, 255)
  id!: string;
}

/** One event. */
export const getEvent = defineContract({
  subject: 'request.events.get',
  request: GetEventRequest,
  reply: StoredEventMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
