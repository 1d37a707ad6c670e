import { Controller, Header, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { printReplayedEventRecord } from '@stream-events/contracts';
import type { FastifyRequest } from 'fastify';
import { Answers, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { DescribesEventId } from '../events/event-filter-parameters.js';
import { EventsService } from '../events/events.service.js';
import { ReplayChannel } from './replay-channel.js';
import { ReplayedEventRecord } from './replays.dto.js';

@ApiTags('Replays')
@Controller('api/v1/platform-events')
export class EventReplayController {
  constructor(
    private readonly events: EventsService,
    private readonly channel: ReplayChannel,
  ) {}

  @Post(':id/replay')
  @HttpCode(200)
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    operationId: 'replayEvent',
    summary: 'Replay an event',
    description:
      'It goes out again to all live connections whose filters it passes, with origin `replay` and without a position. ' +
      'Nothing is stored, and no state changes. A connection that is slow at the moment may miss it. Takes no body.',
  })
  @DescribesEventId()
  @Answers(200, 'The event as it went out', { type: ReplayedEventRecord })
  @RequiresToken()
  @RefusesWith({ not_found: 'There is no such event' })
  async replay(@Param('id') id: string, @Req() request: FastifyRequest): Promise<string> {
    const event = await this.events.get(id, request.id);
    await this.channel.publish([event], null);
    return printReplayedEventRecord(event);
  }
}
