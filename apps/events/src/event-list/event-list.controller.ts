import { Controller } from '@nestjs/common';
import {
  getEvent,
  listEvents,
  ServiceError,
  type GetEventRequest,
  type ListEventsReply,
  type ListEventsRequest,
  type StoredEventMessage,
} from '@stream-events/contracts';
import { readDespiteDrops } from '@stream-events/database';
import { Handles } from '@stream-events/messaging';
import { EventListRepository } from './event-list.repository.js';

@Controller()
export class EventListController {
  constructor(private readonly events: EventListRepository) {}

  @Handles(listEvents)
  async listEvents(request: ListEventsRequest): Promise<ListEventsReply> {
    if (!request.records) return this.events.list(request);
    return { events: [], ...(await this.events.listRecords(request)) };
  }

  @Handles(getEvent)
  async getEvent(request: GetEventRequest): Promise<StoredEventMessage> {
    const event = await readDespiteDrops(() => this.events.find(request.id));
    if (!event) throw new ServiceError('not_found', `There is no event ${request.id}.`);
    return event;
  }
}
