import { Controller, Get, Param, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { checkPublished } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentUser, hasScope, type Caller } from '../access/caller.js';
import { DescribesEventId } from '../event-filters/event-filter-parameters.js';
import { EventsService } from '../events/events.service.js';
import { Answers, RefusesWith } from '../http/api-decorators.js';
import { printTimeOrNull } from '../http/time.js';
import { EventDeliveryRecord } from './event-delivery.dto.js';
import { InstanceBoard } from './instance-board.js';
import { findMatching } from './matching-connections.js';
import { toLiveConnections } from './system.dto.js';

@ApiTags('Live')
@Controller('api/v1/platform-events')
export class EventDeliveryController {
  constructor(
    private readonly events: EventsService,
    private readonly client: RequestClient,
    private readonly board: InstanceBoard,
  ) {}

  @Get(':id/delivery')
  @AllowAccess('events:write')
  @ApiOperation({
    operationId: 'getEventDelivery',
    summary: 'Get the delivery of an event',
    description:
      'Shows when a stored event happened, whether it was published, and which of your open live connections would receive it ' +
      'now. To send the event to live connections again, replay the event.',
  })
  @DescribesEventId()
  @Answers(200, 'The delivery', { type: EventDeliveryRecord })
  @RefusesWith({ not_found: 'No event has this `id` or `event_id`' })
  async show(
    @Param('id') id: string,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<EventDeliveryRecord> {
    const event = await this.events.get(id, { requestId: request.id, limits: caller.token.limits });
    const asked = { correlationId: request.id };
    const { isPublished } = await this.client.request(checkPublished, { id: event.id }, asked);
    return {
      occurred: hasScope(caller.token, 'events:read') ? printTimeOrNull(event.occurredAt ?? null) : null,
      is_published: isPublished,
      matching_connections: toLiveConnections(findMatching(this.board.read(), event), caller.username),
    };
  }
}
