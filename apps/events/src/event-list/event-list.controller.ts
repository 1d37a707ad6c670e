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
    if (!request.records) return { ...(await this.events.list(request)), records: Buffer.alloc(0) };
    return { events: [], ...(await this.events.listRecords(request)) };
  }

  @Handles(getEvent)
  async getEvent({ id, limits }: GetEventRequest): Promise<StoredEventMessage> {
    const event = await readDespiteDrops(() => this.events.find(id, limits));
    if (!event) throw new ServiceError('not_found', `There is no event ${id}.`);
    return event;
  }
}
