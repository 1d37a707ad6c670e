import { Controller, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { printEventReference, printReplayedEventRecord } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentUser, hasScope, type Caller } from '../access/caller.js';
import { Answers, badBody, MayAccept, RefusesWith } from '../http/api-decorators.js';
import { OptionalJsonBody } from '../http/json-body.decorator.js';
import { DescribesEventId } from '../event-filters/event-filter-parameters.js';
import { EventsService } from '../events/events.service.js';
import { ReplayChannel } from './replay-channel.js';
import { EventReference, EventReplayBody, ReplayedEventRecord } from './replays.dto.js';

@ApiTags('Replays')
@Controller('api/v1/platform-events')
export class EventReplayController {
  constructor(
    private readonly events: EventsService,
    private readonly channel: ReplayChannel,
  ) {}

  @Post(':id/replay')
  @AllowAccess('events:write')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    operationId: 'replayEvent',
    summary: 'Replay an event',
    description:
      'Sends a stored event to all live connections whose filters match or, with `connection`, only to those that have this name. The ' +
      'event has the origin `replay` and no position. Stores nothing and changes no state. A connection that is too slow at that moment misses ' +
      'the replay. The body is optional. A token without `events:read` gets only the `id`, `event_id`, and `event_type` of the event.',
  })
  @DescribesEventId()
  @MayAccept(EventReplayBody)
  @Answers(200, 'The event as it was sent, or its ids and its type', {
    type: ReplayedEventRecord,
    limitedType: EventReference,
  })
  @RefusesWith({ ...badBody, not_found: 'The event does not exist' })
  async replay(
    @Param('id') id: string,
    @OptionalJsonBody(EventReplayBody) { connection = null }: EventReplayBody,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<string> {
    const event = await this.events.get(id, { requestId: request.id, limits: caller.token.limits });
    await this.channel.publish([event], connection);
    return hasScope(caller.token, 'events:read')
      ? printReplayedEventRecord(event)
      : printEventReference(event);
  }
}
