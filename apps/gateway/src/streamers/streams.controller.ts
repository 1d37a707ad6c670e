import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { getLatestStream, getStreamHistory, listStreams } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { ParameterFaults, parsePage } from '../paging/page-parameters.js';
import { StreamPage, StreamRecord, StreamSample, toStreamRecord, toStreamSample } from './streams.dto.js';

@ApiTags('Streamers')
@Controller('api/v1/streamers/:id/streams')
export class StreamsController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
  ) {}

  @Get()
  @AllowAccess('streamers:read')
  @ApiOperation({
    operationId: 'listStreams',
    summary: 'List a streamer’s streams, newest first',
    description: 'Sorted by start time. Follow `next` until it is null.',
  })
  @DescribesId('The id of the streamer')
  @PageParameters('Streams')
  @Answers(200, 'A page of streams', { type: StreamPage })
  @RefusesWith({
    invalid: '`page_size` or `cursor` is invalid',
    not_found: 'The streamer does not exist',
  })
  async list(
    @Id() id: string,
    @Query() parameters: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<StreamPage> {
    const list = `streamers/${id}/streams`;
    const faults = new ParameterFaults();
    const asked = parsePage(parameters, list, faults);
    faults.throwIfAny();
    const page = await this.client.request(
      listStreams,
      { streamerId: id, ...asked },
      { correlationId: request.id },
    );
    return {
      count: page.count,
      next: page.next && this.links.of(request, list, page.next),
      previous: page.previous && this.links.of(request, list, page.previous),
      results: page.streams.map(toStreamRecord),
    };
  }

  @Get('latest')
  @AllowAccess('streamers:read')
  @ApiOperation({
    operationId: 'getLatestStream',
    summary: 'Get a streamer’s latest stream',
    description: 'Returns the stream with the latest start time.',
  })
  @DescribesId('The id of the streamer')
  @Answers(200, 'The stream', { type: StreamRecord })
  @RefusesWith({ not_found: 'The streamer does not exist, or has no streams yet' })
  async showLatest(@Id() id: string, @Req() request: FastifyRequest): Promise<StreamRecord> {
    return toStreamRecord(await this.client.request(getLatestStream, { id }, { correlationId: request.id }));
  }

  @Get(':stream_id/history')
  @AllowAccess('streamers:read')
  @ApiOperation({
    operationId: 'getStreamHistory',
    summary: 'Get the history of a stream',
    description:
      'Returns title, category, and viewers over the duration of the stream, for charts. Returns at most 1,000 samples. If the ' +
      'stream has more samples, returns an even selection.',
  })
  @DescribesId('The id of the streamer')
  @DescribesId('The id of the stream', 'stream_id')
  @Answers(200, 'The samples, oldest first', { type: StreamSample, isArray: true })
  @RefusesWith({ not_found: 'The streamer does not exist, or does not have this stream' })
  async showHistory(
    @Id() streamerId: string,
    @Id('stream_id') streamId: string,
    @Req() request: FastifyRequest,
  ): Promise<StreamSample[]> {
    const { samples } = await this.client.request(
      getStreamHistory,
      { streamerId, streamId },
      { correlationId: request.id },
    );
    return samples.map(toStreamSample);
  }
}
