import { Controller } from '@nestjs/common';
import {
  getEvent,
  listEvents,
  ServiceError,
  type GetEventRequest,
  type LimitedRequest,
  type ListEventsReply,
  type ListEventsRequest,
  type ReadRequest,
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
    return this.list(request);
  }

  @Handles(listEvents.withinLimits)
  async listEventsWithinLimits(request: LimitedRequest<ListEventsRequest>): Promise<ListEventsReply> {
    return this.list(request);
  }

  @Handles(getEvent)
  async getEvent(request: GetEventRequest): Promise<StoredEventMessage> {
    return this.get(request);
  }

  @Handles(getEvent.withinLimits)
  async getEventWithinLimits(request: LimitedRequest<GetEventRequest>): Promise<StoredEventMessage> {
    return this.get(request);
  }

  private async list(request: ReadRequest<ListEventsRequest>): Promise<ListEventsReply> {
    if (!request.records) return { ...(await this.events.list(request)), records: Buffer.alloc(0) };
    return { events: [], ...(await this.events.listRecords(request)) };
  }

  private async get({ id, limits }: ReadRequest<GetEventRequest>): Promise<StoredEventMessage> {
    const event = await readDespiteDrops(() => this.events.find(id, limits));
    if (!event) throw new ServiceError('not_found', `There is no event ${id}.`);
    return event;
  }
}
