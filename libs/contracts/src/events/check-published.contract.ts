import { IsBoolean, IsUUID } from 'class-validator';
import { defineContract } from '../contract.js';

export class CheckPublishedRequest {
  /** The `id` of a stored event. Test events also have an `id`, although their records show null. */
  @IsUUID('all')
  id!: string;
}

export class CheckPublishedReply {
  /** False while the event is still in the outbox. */
  @IsBoolean()
  isPublished!: boolean;
}

/** Returns whether a stored event has been published on the EVENTS stream. */
export const checkPublished = defineContract({
  subject: 'request.events.check-published',
  request: CheckPublishedRequest,
  reply: CheckPublishedReply,
  errors: [],
  timeoutMs: 5_000,
});
