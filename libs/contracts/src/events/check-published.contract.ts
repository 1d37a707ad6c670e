import { IsBoolean, IsUUID } from 'class-validator';
import { defineContract } from '../contract.js';

export class CheckPublishedRequest {
  /** The `id` of a stored event. A test event has one too, although its record has none. */
  @IsUUID('all')
  id!: string;
}

export class CheckPublishedReply {
  /** False while the event waits in the outbox. */
  @IsBoolean()
  isPublished!: boolean;
}

/** Says whether the EVENTS stream has a stored event. */
export const checkPublished = defineContract({
  subject: 'request.events.check-published',
  request: CheckPublishedRequest,
  reply: CheckPublishedReply,
  errors: [],
  timeoutMs: 5_000,
});
