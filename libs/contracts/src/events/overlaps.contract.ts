import { ArrayMaxSize, ArrayMinSize, IsArray, IsInt, Max, Min } from 'class-validator';
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

export class EndOverlapsRequest extends BeginOverlapsRequest {
  /** A time at or after the deletion of the twin, in milliseconds since 1970. */
  @IsInt()
  @Min(0)
  @Max(lastMillisecond)
  endedAt!: number;
}

export class EndOverlapsReply {}

/**
 * Announces that only one of the two subscriptions is left. Deliveries of messages that are older than the end are paired for another
 * day, because they may still wait in a queue. Idempotent.
 */
export const endOverlaps = defineContract({
  subject: 'request.events.end-overlaps',
  request: EndOverlapsRequest,
  reply: EndOverlapsReply,
  errors: [],
  timeoutMs: 5_000,
});
