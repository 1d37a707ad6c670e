import { Controller } from '@nestjs/common';
import {
  storeEventBatch,
  type StoreEventBatchReply,
  type StoreEventBatchRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { EventWriter } from '../store/event-writer.service.js';

@Controller()
export class IngestController {
  constructor(private readonly writer: EventWriter) {}

  @Handles(storeEventBatch)
  async storeEventBatch({ events }: StoreEventBatchRequest): Promise<StoreEventBatchReply> {
    const outcomes = await this.writer.store(events);
    return {
      events: events.length,
      exceptions: outcomes.flatMap(({ id, outcome }, index) =>
        outcome === 'stored' ? [] : [{ index, id, outcome }],
      ),
    };
  }
}
