import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsInt,
  IsObject,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { IsText } from '../text.js';
import { lastMillisecond } from './event-record.js';
import { maxSubscriptionLength } from './store-events.contract.js';

/** The maximum number of subscriptions in one request. */
export const maxOverlaps = 500;

export class BeginOverlapsRequest {
  /** See `Delivery`. */
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(maxOverlaps)
  @IsText(1, maxSubscriptionLength, { each: true })
  subscriptions!: string[];
}

export class BeginOverlapsReply {
  /** Milliseconds until every events service pairs deliveries from these subscriptions; 0 when all of them already do. */
  @IsInt()
  @Min(0)
  readyInMs!: number;
}

/**
 * Announces that each of these subscriptions is about to get a twin: a second subscription with the same type and condition, which delivers
 * the same occurrences under other message ids. The store then pairs the deliveries from both subscriptions. Create the second subscription
 * only after a reply of 0. Otherwise, the store could store an occurrence twice. Idempotent.
 */
export const beginOverlaps = defineContract({
  subject: 'request.events.begin-overlaps',
  request: BeginOverlapsRequest,
  reply: BeginOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** An overlap that is ending. */
export class EndingOverlap {
  @IsText(1, maxSubscriptionLength)
  subscription!: string;

  /**
   * When the platform created the remaining subscription, by the platform's clock, in milliseconds since 1970. The store ignores messages
   * that older subscriptions sent after the end of the overlap. 0 when no older subscription exists.
   */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  keptSince!: number;
}

export class EndOverlapsRequest {
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(maxOverlaps)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => EndingOverlap)
  overlaps!: EndingOverlap[];

  /** The end of the overlaps, in milliseconds since 1970. If both subscriptions still exist, a time a few seconds in the future. */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  endedAt!: number;
}

export class EndOverlapsReply {}

/**
 * Announces the time after which only the remaining subscription counts (see `EndingOverlap.keptSince`). Send this request before you
 * delete the other subscription. For 25 more hours, the store pairs messages from before that time, because such messages may still wait in
 * a queue. An overlap that already has an end keeps its end. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
