import { Controller } from '@nestjs/common';
import {
  discardDeadLetter,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetter,
  type DiscardDeadLetterReply,
  type ListDeadLettersReply,
  type ListDeadLettersRequest,
  type DeadLetterDetail,
  type DeadLetterRequest,
  type RetryDeadLetterReply,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { DeadLettersRepository } from '../store/dead-letters.repository.js';
import { DeadLettersService } from './dead-letters.service.js';

@Controller()
export class DeadLettersController {
  constructor(
    private readonly deadLetters: DeadLettersService,
    private readonly repository: DeadLettersRepository,
  ) {}

  @Handles(listDeadLetters)
  async list(request: ListDeadLettersRequest): Promise<ListDeadLettersReply> {
    return this.repository.list(request);
  }

  @Handles(getDeadLetter)
  async get({ id }: DeadLetterRequest): Promise<DeadLetterDetail> {
    const { event, sqlState, reason, failedAt } = await this.deadLetters.get(id);
    const { idempotencyKey: _, ...shown } = event;
    return { ...shown, sqlState, reason, failedAt };
  }

  @Handles(retryDeadLetter)
  async retry({ id }: DeadLetterRequest): Promise<RetryDeadLetterReply> {
    return this.deadLetters.retry(id);
  }

  @Handles(discardDeadLetter)
  async discard({ id }: DeadLetterRequest): Promise<DiscardDeadLetterReply> {
    await this.deadLetters.discard(id);
    return { id };
  }
}
