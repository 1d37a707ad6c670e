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
  /** When every events service is sure to pair the deliveries of these subscriptions, in milliseconds from now; 0 means now. */
  @IsInt()
  @Min(0)
  readyInMs!: number;
}

/**
 * Announces that each of these subscriptions is about to get a twin: a second subscription with the same type and condition, which
 * delivers the same occurrences under other message ids. From then on, the store pairs the deliveries of the two. Do not create the
 * second subscription before the reply is 0: occurrences until then could be stored twice. Idempotent.
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
   * When the platform created the subscription that stays, by its own clock, in milliseconds since 1970. Later messages of older
   * subscriptions are ignored from the end on. 0 when no older subscription is left.
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
 * Announces that only one of the two subscriptions counts from a time on: send it before you delete the other one. Messages from before
 * that time are paired for another day, because they may still wait in a queue. An overlap that has an end keeps it. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
