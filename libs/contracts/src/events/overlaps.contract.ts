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
  /** Milliseconds until every events service is sure to pair the deliveries of these subscriptions; 0 means now. */
  @IsInt()
  @Min(0)
  readyInMs!: number;
}

/**
 * Announces that each of these subscriptions is about to get a twin: a second subscription with the same type and condition, which
 * delivers the same occurrences under other message ids. From then on, the store pairs the deliveries of the two. Create the second
 * subscription only after a reply of 0. Before that, occurrences could be stored twice. Idempotent.
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
   * When the platform created the subscription that stays, by its own clock, in milliseconds since 1970. Messages of older subscriptions
   * from after the end of the overlap are ignored. 0 when no older subscription is left.
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

  /** In milliseconds since 1970: some seconds from now while both subscriptions exist. */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  endedAt!: number;
}

export class EndOverlapsReply {}

/**
 * Announces the time from which only one of the two subscriptions counts. Send this request before you delete the other subscription.
 * Messages from before that time are paired for another day, because they may still wait in a queue. An overlap that already has an end
 * keeps that end. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
