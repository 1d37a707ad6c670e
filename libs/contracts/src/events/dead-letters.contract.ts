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
export class DeadLetterSummary {
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
  failedAt!: number;
}

/** A dead letter with its payload. */
export class DeadLetterDetail extends DeadLetterSummary {
  /** As it was received: JSON text, unless that is what is wrong with it. */
  @IsString()
  eventData!: string;
}

export class ListDeadLettersRequest {
  @IsInt()
  @Min(1)
  @Max(100)
  pageSize!: number;

  /** The page begins below this id; the newest page without it. */
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

/** One page of the dead letters. */
export const listDeadLetters = defineContract({
  subject: 'request.events.list-dead-letters',
  request: ListDeadLettersRequest,
  reply: ListDeadLettersReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Names a dead letter. */
export class DeadLetterRequest {
  @IsUUID('all')
  id!: string;
}

/** One dead letter. */
export const getDeadLetter = defineContract({
  subject: 'request.events.get-dead-letter',
  request: DeadLetterRequest,
  reply: DeadLetterDetail,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** The event that a dead letter became: now (`stored`), or before, as it was delivered again (`known`). */
export class RetryDeadLetterReply {
  @IsUUID('all')
  id!: string;

  @IsIn(['stored', 'known'])
  outcome!: 'stored' | 'known';
}

/** Stores a dead letter, which is then parked no more; `conflict` when it is refused again. Idempotent until then. */
export const retryDeadLetter = defineContract({
  subject: 'request.events.retry-dead-letter',
  request: DeadLetterRequest,
  reply: RetryDeadLetterReply,
  errors: ['not_found', 'conflict'],
  timeoutMs: 5_000,
});

export class DiscardDeadLetterReply {
  /** What is gone. */
  @IsUUID('all')
  id!: string;
}

/** Forgets a dead letter. */
export const discardDeadLetter = defineContract({
  subject: 'request.events.discard-dead-letter',
  request: DeadLetterRequest,
  reply: DiscardDeadLetterReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});
