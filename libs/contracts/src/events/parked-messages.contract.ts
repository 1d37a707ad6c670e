import { Type } from 'class-transformer';
import {
  IsArray,
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
import { eventOrigins, type EventOrigin } from './event-record.js';

/** An event that the database refused and that is kept aside, without its payload. */
export class ParkedMessageSummary {
  /** The id that the event has once it is stored. */
  @IsUUID('all')
  id!: string;

  /** The platform's message id, or the id of a test event. */
  @IsOptional()
  @IsString()
  eventId!: string | null;

  @IsString()
  eventType!: string;

  @IsString()
  eventSource!: string;

  @IsIn(eventOrigins)
  origin!: EventOrigin;

  /** Why it was refused the last time: PostgreSQL's code of the error. */
  @IsString()
  sqlState!: string;

  /** The same in PostgreSQL's words, in its language. */
  @IsString()
  reason!: string;

  /** When it was refused first, in milliseconds since 1970. */
  @IsInt()
  parkedAt!: number;
}

/** A parked message with its payload. */
export class ParkedMessageDetail extends ParkedMessageSummary {
  /** As it was received: JSON text, unless that is what is wrong with it. */
  @IsString()
  eventData!: string;
}

export class ListParkedMessagesRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** The page begins below this id; the newest page without it. */
  @IsOptional()
  @IsUUID('all')
  before?: string;
}

export class ListParkedMessagesReply {
  /** Newest first, by id. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ParkedMessageSummary)
  messages!: ParkedMessageSummary[];

  /** The next page begins below this id; null means the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** One page of the parked messages. */
export const listParkedMessages = defineContract({
  subject: 'request.events.list-parked',
  request: ListParkedMessagesRequest,
  reply: ListParkedMessagesReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Names a parked message. */
export class ParkedMessageRequest {
  @IsUUID('all')
  id!: string;
}

/** One parked message. */
export const getParkedMessage = defineContract({
  subject: 'request.events.get-parked',
  request: ParkedMessageRequest,
  reply: ParkedMessageDetail,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** The event that a parked message became: now (`stored`), or before, as it was delivered again (`known`). */
export class RetryParkedMessageReply {
  @IsUUID('all')
  id!: string;

  @IsIn(['stored', 'known'])
  outcome!: 'stored' | 'known';
}

/** Stores a parked message, which is then parked no more; `conflict` when it is refused again. Idempotent until then. */
export const retryParkedMessage = defineContract({
  subject: 'request.events.retry-parked',
  request: ParkedMessageRequest,
  reply: RetryParkedMessageReply,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class DiscardParkedMessageReply {
  /** What is gone. */
  @IsUUID('all')
  id!: string;
}

/** Forgets a parked message. */
export const discardParkedMessage = defineContract({
  subject: 'request.events.discard-parked',
  request: ParkedMessageRequest,
  reply: DiscardParkedMessageReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
