import { Type } from 'class-transformer';
import {
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
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

/**
 * A place between two events in the list. `older` reads down from it, `newer` reads up; `inclusive` counts the
 * event with this very id as beyond the place.
 */
export class ListPosition {
  @IsIn(['older', 'newer'])
  direction!: 'older' | 'newer';

  @IsUUID('all')
  id!: string;

  @IsBoolean()
  inclusive!: boolean;
}

export class ListEventsRequest {
  @IsObject()
  @ValidateNested()
  @Type(() => EventFilters)
  filters!: EventFilters;

  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** Where the page begins; the newest page without it. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  position?: ListPosition;
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

export class ListEventsReply {
  /** Newest first. Maybe fewer than asked for, even none, when the page's budget of bytes or rows was used up. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StoredEventMessage)
  events!: StoredEventMessage[];

  /** Where older events go on; null alone means the end. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  next!: ListPosition | null;

  /** Where newer events go on; null when there are none yet. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => ListPosition)
  previous!: ListPosition | null;
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
  /** The id of an event, or the `event_id` of a test event. */
  @IsUUID('all')
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
