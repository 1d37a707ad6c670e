import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { getLatestStream, getStreamHistory, listStreams } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { Answers, DescribesId, RefusesWith, RequiresToken } from '../http/api-decorators.js';
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
  @ApiOperation({
    summary: 'List a streamer’s streams',
    description: 'The one that began last comes first. Follow `next` until it is null.',
  })
  @DescribesId('The streamer’s id')
  @PageParameters('Streams')
  @Answers(200, 'A page of streams', { type: StreamPage })
  @RequiresToken()
  @RefusesWith({
    invalid: 'A parameter is wrong: page_size or cursor',
    not_found: 'There is no such streamer',
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
  @ApiOperation({ summary: 'Show a streamer’s latest stream', description: 'The one that began last.' })
  @DescribesId('The streamer’s id')
  @Answers(200, 'The stream', { type: StreamRecord })
  @RequiresToken()
  @RefusesWith({ not_found: 'There is no such streamer, or it has no stream yet' })
  async showLatest(@Id() id: string, @Req() request: FastifyRequest): Promise<StreamRecord> {
    return toStreamRecord(await this.client.request(getLatestStream, { id }, { correlationId: request.id }));
  }

  @Get(':stream_id/history')
  @ApiOperation({
    summary: 'Show how a stream went',
    description:
      'Title, category and viewers over the time of the stream, for charts: at most 1,000 samples; more are thinned out evenly.',
  })
  @DescribesId('The streamer’s id')
  @DescribesId('The `id` of the stream', 'stream_id')
  @Answers(200, 'The samples, oldest first', { type: StreamSample, isArray: true })
  @RequiresToken()
  @RefusesWith({ not_found: 'There is no such streamer, or it has no such stream' })
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
