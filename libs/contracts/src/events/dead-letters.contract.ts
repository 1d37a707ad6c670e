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
import type { StoreOutcome } from './store-events.contract.js';

/**
 * A dead letter without its payload: an event that the database rejected, a message that cannot be read, or an event that arrived after its
 * retention period.
 */
export class DeadLetterSummary {
  /**
   * The id of the event. The event that a retry stores has the same id, unless the dead letter is an unreadable message: then the event has
   * another id.
   */
  @IsUUID('all')
  id!: string;

  /**
   * The platform's message id, or the `event_id` of a test event; null for a platform event that a client posted and for an unreadable
   * message.
   */
  @IsOptional()
  @IsString()
  eventId!: string | null;

  @IsString()
  eventType!: string;

  @IsString()
  eventSource!: string;

  @IsIn(eventOrigins)
  origin!: EventOrigin;

  /** PostgreSQL's error code (SQLSTATE) of the latest rejection; empty when PostgreSQL did not reject the event. */
  @IsString()
  sqlState!: string;

  /** Why the event is not stored: PostgreSQL's error message in the language of the server, or the service's own reason. */
  @IsString()
  reason!: string;

  /** When the event was first rejected, in milliseconds since 1970. */
  @IsInt()
  failedAt!: number;
}

/** A dead letter with its payload. */
export class DeadLetterDetail extends DeadLetterSummary {
  /** The payload as received: JSON text, unless the payload is not valid JSON. */
  @IsString()
  eventData!: string;
}

export class ListDeadLettersRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** Requests dead letters with ids below this one. Omit it to request the newest page. */
  @IsOptional()
  @IsUUID('all')
  before?: string;
}

export class ListDeadLettersReply {
  /** Newest first, by id. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => DeadLetterSummary)
  messages!: DeadLetterSummary[];

  /** The next page begins below this id; null means the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** Lists one page of dead letters. */
export const listDeadLetters = defineContract({
  subject: 'request.events.list-dead-letters',
  request: ListDeadLettersRequest,
  reply: ListDeadLettersReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Identifies a dead letter. */
export class DeadLetterRequest {
  @IsUUID('all')
  id!: string;
}

/** Returns one dead letter. */
export const getDeadLetter = defineContract({
  subject: 'request.events.get-dead-letter',
  request: DeadLetterRequest,
  reply: DeadLetterDetail,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** The possible outcomes of a successful retry. */
export const retryOutcomes = ['stored', 'known'] as const satisfies readonly StoreOutcome['outcome'][];

/**
 * The event of the dead letter. `stored`: this retry stored the event. `known`: a redelivery or an earlier retry had already stored the
 * event.
 */
export class RetryDeadLetterReply {
  @IsUUID('all')
  id!: string;

  @IsIn(retryOutcomes)
  outcome!: (typeof retryOutcomes)[number];
}

/**
 * Stores the event of a dead letter and deletes the dead letter. `conflict`: the event was rejected again or is older than the retention
 * period, or the message still cannot be read. The dead letter is then kept. If a newer version can read the message but not store its
 * event, a dead letter of the event replaces the dead letter.
 */
export const retryDeadLetter = defineContract({
  subject: 'request.events.retry-dead-letter',
  request: DeadLetterRequest,
  reply: RetryDeadLetterReply,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class DiscardDeadLetterReply {
  /** The id of the deleted dead letter. */
  @IsUUID('all')
  id!: string;
}

/** Deletes a dead letter. */
export const discardDeadLetter = defineContract({
  subject: 'request.events.discard-dead-letter',
  request: DeadLetterRequest,
  reply: DiscardDeadLetterReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
