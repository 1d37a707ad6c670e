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
import type { StoreOutcome } from './store-event-batch.contract.js';

/**
 * A dead letter without its payload. It is an event that the database rejected, an unreadable message, or an event that arrived after its
 * retention period.
 */
export class DeadLetterSummary {
  /** Event id. A retry stores the event under the same id, or, if the message was unreadable, under the id that the message contains. */
  @IsUUID('all')
  id!: string;

  /**
   * The platform's message id, or a test event's `event_id`. Null for a platform event that a client posted, and for an unreadable message.
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

  /** SQLSTATE of the latest rejection; empty if PostgreSQL did not reject the event. */
  @IsString()
  sqlState!: string;

  /** Why the event is not stored: PostgreSQL's message in the server's language, or the service's own reason. */
  @IsString()
  reason!: string;

  /** Time of the first rejection, in milliseconds since 1970. */
  @IsInt()
  failedAt!: number;
}

/** A dead letter with its payload. */
export class DeadLetterDetail extends DeadLetterSummary {
  /** Payload as received: usually JSON text, but it can be invalid. */
  @IsString()
  eventData!: string;
}

export class ListDeadLettersRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** Lists dead letters with smaller ids. Default: the newest page. */
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

  /** The next page starts below this id; null at the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** Lists a page of dead letters. */
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

/** Outcomes of a successful retry. */
export const retryOutcomes = ['stored', 'known'] as const satisfies readonly StoreOutcome['outcome'][];

/** `stored`: this retry or an earlier one stored the event. `known`: a redelivery had already stored the event under another id. */
export class RetryDeadLetterReply {
  @IsUUID('all')
  id!: string;

  @IsIn(retryOutcomes)
  outcome!: (typeof retryOutcomes)[number];
}

/**
 * Stores the event of a dead letter and deletes the dead letter. On `conflict`, the dead letter stays: the event was rejected again, is
 * older than the retention period, or is still unreadable. If the dead letter holds an unreadable message that the current version can read
 * but not store, a dead letter of the message's event replaces this dead letter.
 */
export const retryDeadLetter = defineContract({
  subject: 'request.events.retry-dead-letter',
  request: DeadLetterRequest,
  reply: RetryDeadLetterReply,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class DiscardDeadLetterReply {
  /** Id of the deleted dead letter. */
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
