import { Controller } from '@nestjs/common';
import { storeEvents, type StoreEventsReply, type StoreEventsRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { IngestService } from './ingest.service.js';

@Controller()
export class IngestController {
  constructor(private readonly ingest: IngestService) {}

  @Handles(storeEvents)
  async storeEvents(request: StoreEventsRequest): Promise<StoreEventsReply> {
    return { outcomes: await this.ingest.store(request.events) };
  }
}
