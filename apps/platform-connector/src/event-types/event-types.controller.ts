import { Controller } from '@nestjs/common';
import {
  getStreamerEventTypes,
  listEventTypes,
  setEventType,
  setStreamerEventTypes,
  type EmptyRequest,
  type EventTypeMessage,
  type ListEventTypesReply,
  type SetEventTypeRequest,
  type SetStreamerEventTypesRequest,
  type StreamerEventTypesReply,
  type StreamerEventTypesRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { EventTypesService } from './event-types.service.js';

@Controller()
export class EventTypesController {
  constructor(private readonly eventTypes: EventTypesService) {}

  @Handles(listEventTypes)
  async listEventTypes(_request: EmptyRequest): Promise<ListEventTypesReply> {
    return { eventTypes: await this.eventTypes.list() };
  }

  @Handles(setEventType)
  async setEventType(request: SetEventTypeRequest): Promise<EventTypeMessage> {
    return this.eventTypes.set(request.type, request.active);
  }

  @Handles(getStreamerEventTypes)
  async getStreamerEventTypes({ userId }: StreamerEventTypesRequest): Promise<StreamerEventTypesReply> {
    return { types: await this.eventTypes.chosenFor(userId) };
  }

  @Handles(setStreamerEventTypes)
  async setStreamerEventTypes({
    userId,
    types,
  }: SetStreamerEventTypesRequest): Promise<StreamerEventTypesReply> {
    return { types: await this.eventTypes.chooseFor(userId, types) };
  }
}
