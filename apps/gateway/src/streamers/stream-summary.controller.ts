import { Controller, Get, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { getStreamViewers, summarizeStream } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentUser, type Caller } from '../access/caller.js';
import { Answers, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { StreamSummary, toStreamSummary } from './stream-summary.dto.js';

@ApiTags('Streamers')
@Controller('api/v1/streamers/:id/streams/:stream_id/summary')
export class StreamSummaryController {
  constructor(private readonly client: RequestClient) {}

  @Get()
  @AllowAccess(['streamers:read', 'events:read'])
  @ApiOperation({
    operationId: 'getStreamSummary',
    summary: 'Get the summary of a stream',
    description:
      'Counts the stored events of the channel that happened between the start and the end of the stream, including events that ' +
      'clients added, but not test events. Includes only event types that the service receives: see `/api/v1/platform/event-types`. ' +
      'The summary changes when events arrive late or the end of the stream is corrected.',
  })
  @DescribesId('The id of the streamer')
  @DescribesId('The id of the stream', 'stream_id')
  @Answers(200, 'The summary', { type: StreamSummary })
  @RefusesWith({ not_found: 'The streamer does not exist, or does not have this stream' })
  async show(
    @Id() streamerId: string,
    @Id('stream_id') streamId: string,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<StreamSummary> {
    const options = { correlationId: request.id };
    const found = await this.client.request(getStreamViewers, { streamerId, streamId }, options);
    const { userId: channelId, startedAt, endedAt } = found.stream;
    const { limits } = caller.token;
    const asked = { streamId, channelId, startedAt, endedAt, limits };
    const summary = await this.client.request(summarizeStream, asked, options);
    return toStreamSummary(found, summary);
  }
}
