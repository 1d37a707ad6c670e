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

/** Maximum number of subscriptions per request. */
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
  /** Milliseconds until every events service pairs deliveries from these subscriptions; 0 if all of them do. */
  @IsInt()
  @Min(0)
  readyInMs!: number;
}

/**
 * Announces that each of these subscriptions will get a twin: a second subscription with the same type and condition. It delivers the same
 * occurrences under other message ids, so the store must pair the deliveries of both. Create the twin only after a reply of 0. Otherwise an
 * occurrence could be stored twice. Idempotent.
 */
export const beginOverlaps = defineContract({
  subject: 'request.events.begin-overlaps',
  request: BeginOverlapsRequest,
  reply: BeginOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});

/** An overlap that ends. */
export class EndingOverlap {
  @IsText(1, maxSubscriptionLength)
  subscription!: string;

  /**
   * When the platform created the remaining subscription, by the platform's clock, in milliseconds since 1970. The store ignores messages
   * that older subscriptions sent after the overlap. 0 if there are none.
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

  /** End of the overlaps, in milliseconds since 1970. If both subscriptions still exist, use a time a few seconds ahead. */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  endedAt!: number;
}

export class EndOverlapsReply {}

/**
 * Announces the time after which only the remaining subscription counts (see `EndingOverlap.keptSince`). Send this before you delete the
 * other one. Messages from before that time can wait in a queue, so the store keeps pairing them for 25 hours. An overlap that already has
 * an end keeps it. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
