import { IsBoolean, IsUUID } from 'class-validator';
import { defineContract } from '../contract.js';

export class CheckPublishedRequest {
  /** A stored event's `id`. Test events have one too, although their records show null. */
  @IsUUID('all')
  id!: string;
}

export class CheckPublishedReply {
  /** False while the event is in the outbox; otherwise true, even if no event has this id. */
  @IsBoolean()
  isPublished!: boolean;
}

/** Returns whether a stored event was published on the EVENTS stream. */
export const checkPublished = defineContract({
  subject: 'request.events.check-published',
  request: CheckPublishedRequest,
  reply: CheckPublishedReply,
  errors: [],
  timeoutMs: 5_000,
});
