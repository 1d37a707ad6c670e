import { Controller } from '@nestjs/common';
import { storeEvents, type StoreEventsReply, type StoreEventsRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { EventWriter } from '../store/event-writer.service.js';

@Controller()
export class IngestController {
  constructor(private readonly writer: EventWriter) {}

  @Handles(storeEvents)
  async storeEvents(request: StoreEventsRequest): Promise<StoreEventsReply> {
    return { outcomes: await this.writer.store(request.events) };
  }
}
