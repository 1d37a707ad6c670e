import { Controller } from '@nestjs/common';
import {
  storeEventBatch,
  storeEvents,
  type StoreEventBatchReply,
  type StoreEventBatchRequest,
  type StoreEventsReply,
  type StoreEventsRequest,
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

  @Handles(storeEvents)
  async storeEvents({ events }: StoreEventsRequest): Promise<StoreEventsReply> {
    return { outcomes: await this.writer.store(events) };
  }
}
