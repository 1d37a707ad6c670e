import { Controller } from '@nestjs/common';
import {
  checkPublished,
  type CheckPublishedReply,
  type CheckPublishedRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { OutboxRepository } from './outbox.repository.js';

@Controller()
export class PublicationController {
  constructor(private readonly outbox: OutboxRepository) {}

  @Handles(checkPublished)
  async check({ id }: CheckPublishedRequest): Promise<CheckPublishedReply> {
    return { isPublished: !(await this.outbox.holds(id)) };
  }
}
