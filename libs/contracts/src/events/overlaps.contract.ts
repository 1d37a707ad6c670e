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
import { maxSubscriptionLength } from './new-event.js';

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
  /** Milliseconds until every events service pairs deliveries from these subscriptions; 0 if every events service already does. */
  @IsInt()
  @Min(0)
  readyInMs!: number;
}

/**
 * Announces that each of these subscriptions will get a twin: a second subscription with the same type and condition. The twin delivers the
 * same occurrences under other message ids, so the store must pair the deliveries of the two subscriptions. Create the twin only after a
 * reply in which `readyInMs` is 0. Otherwise an occurrence could be stored twice. Idempotent.
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
   * When the platform created the remaining subscription, by the platform's clock, in milliseconds since 1970. After the overlap ends,
   * the store ignores new messages from older subscriptions. With 0, the store ignores none.
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
 * Announces the time after which only the remaining subscription counts (see `EndingOverlap.keptSince`). Send this request before you
 * delete the older subscription. Messages from before that time can wait in a queue, so the store keeps pairing them for 25 hours. If an
 * overlap already has an end, that end stays. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
