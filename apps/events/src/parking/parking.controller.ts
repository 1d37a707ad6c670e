import { Controller } from '@nestjs/common';
import {
  discardParkedMessage,
  getParkedMessage,
  listParkedMessages,
  retryParkedMessage,
  type DiscardParkedMessageReply,
  type ListParkedMessagesReply,
  type ListParkedMessagesRequest,
  type ParkedMessageDetail,
  type ParkedMessageRequest,
  type RetryParkedMessageReply,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ParkedMessagesRepository } from './parked-messages.repository.js';
import { ParkingService } from './parking.service.js';

@Controller()
export class ParkingController {
  constructor(
    private readonly parking: ParkingService,
    private readonly parked: ParkedMessagesRepository,
  ) {}

  @Handles(listParkedMessages)
  async list(request: ListParkedMessagesRequest): Promise<ListParkedMessagesReply> {
    return this.parked.list(request);
  }

  @Handles(getParkedMessage)
  async get({ id }: ParkedMessageRequest): Promise<ParkedMessageDetail> {
    const { event, sqlState, reason, parkedAt } = await this.parking.get(id);
    const { idempotencyKey: _, ...shown } = event;
    return { ...shown, sqlState, reason, parkedAt };
  }

  @Handles(retryParkedMessage)
  async retry({ id }: ParkedMessageRequest): Promise<RetryParkedMessageReply> {
    return this.parking.retry(id);
  }

  @Handles(discardParkedMessage)
  async discard({ id }: ParkedMessageRequest): Promise<DiscardParkedMessageReply> {
    await this.parking.discard(id);
    return { id };
  }
}
