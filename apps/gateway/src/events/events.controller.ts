import { Controller, Get, Header, Headers, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiHeader, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import {
  isTextWithin,
  listEvents,
  printEventRecord,
  readJsonObject,
  ServiceError,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { StoresData } from '../access/stores-data.decorator.js';
import { CurrentUser, type Caller } from '../access/caller.js';
import { Accepts, AcceptsAnyObject, Answers, badBody, RefusesWith } from '../http/api-decorators.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { DescribesEventId, EventFilterParameters } from '../event-filters/event-filter-parameters.js';
import { parseEventListQuery } from './event-list.query.js';
import { CreateEventBody, EventPage, EventRecord, exampleData } from './events.dto.js';
import { EventsService } from './events.service.js';

const jsonType = 'application/json; charset=utf-8';

const idempotencyKey = {
  name: 'Idempotency-Key',
  required: false,
  schema: { type: 'string' as const, maxLength: 255 },
  example: '5f0c7c1e-raid-4711',
  description:
    'Makes the request safe to retry. When the same user sends the same key again within 24 hours, the service stores nothing and returns the first event. A token without `events:read` gets the ids of the first event, and the data that it sent.',
};

const refusedEvents = {
  ...badBody,
  conflict: 'The event of this `Idempotency-Key` was stored, and has been erased since',
};

@ApiTags('Events')
@Controller('api/v1/platform-events')
export class EventsController {
  constructor(
    private readonly events: EventsService,
    private readonly client: RequestClient,
    private readonly links: ListLinks,
  ) {}

  @Get()
  @AllowAccess('events:read')
  @Header('content-type', jsonType)
  @ApiOperation({
    operationId: 'listEvents',
    summary: 'List events, newest first',
    description:
      'Filters combine with AND. Follow `next` until it is null. `previous` leads back to newer events. Do not ' +
      'poll `previous` for new events, because the service can store an event a few seconds after a newer event. To receive every ' +
      'event, use live delivery or the EVENTS stream.',
  })
  @EventFilterParameters()
  @Answers(200, 'A page of events', { type: EventPage })
  @RefusesWith({ invalid: '`page_size`, `since`, `until`, or `cursor` is invalid' })
  async list(
    @Query() parameters: Record<string, string>,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<Buffer> {
    const query = parseEventListQuery(parameters);
    const asked = { ...query.request, limits: caller.token.limits, records: true };
    const page = await this.client.request(listEvents, asked, { correlationId: request.id });
    const link = (position: typeof page.next): string =>
      JSON.stringify(position && this.links.of(request, query.list, position));
    const head = `{"next":${link(page.next)},"previous":${link(page.previous)},"results":`;
    // Add the final newline here. The server would otherwise copy the whole page to add it.
    return Buffer.concat([Buffer.from(head), page.records, Buffer.from('}\n')]);
  }

  @Post()
  @AllowAccess('events:write')
  @StoresData()
  @Header('content-type', jsonType)
  @ApiOperation({
    operationId: 'createEvent',
    summary: 'Add an event',
    description:
      'Stores and delivers an event with the origin `platform` and a null `event_id`. The event never changes a streamer’s state.',
  })
  @ApiHeader(idempotencyKey)
  @Accepts(CreateEventBody)
  @Answers(201, 'The stored event', { type: EventRecord, location: true })
  @RefusesWith(refusedEvents)
  async create(
    @JsonBody(CreateEventBody) body: CreateEventBody,
    @CurrentUser() caller: Caller,
    @Headers('idempotency-key') key: string | undefined,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    const event = await this.events.create(
      {
        eventType: body.event_type,
        eventSource: body.event_source,
        eventData: body.event_data,
        idempotencyKey: key,
        requestId: request.id,
      },
      caller,
    );
    reply.header('Location', `/api/v1/platform-events/${event.id}`);
    return printEventRecord(event);
  }

  @Get(':id')
  @AllowAccess('events:read')
  @Header('content-type', jsonType)
  @ApiOperation({
    operationId: 'getEvent',
    summary: 'Get an event',
    description: 'Finds an event by its `id` or its `event_id`.',
  })
  @DescribesEventId()
  @Answers(200, 'The event', { type: EventRecord })
  @RefusesWith({ not_found: 'No event has this `id` or `event_id`' })
  async show(
    @Param('id') id: string,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<string> {
    return printEventRecord(
      await this.events.get(id, { requestId: request.id, limits: caller.token.limits }),
    );
  }

  @Post(':event_type/test')
  @AllowAccess('events:write')
  @StoresData()
  @HttpCode(200)
  @Header('content-type', jsonType)
  @ApiOperation({
    operationId: 'createTestEvent',
    summary: 'Create a test event',
    description:
      'Stores and delivers an event with the origin `test`. Its record has a null `id`. The event never changes a streamer’s state.',
  })
  @ApiParam({
    name: 'event_type',
    description: 'Event type: text without `/`. Surrounding white space is removed.',
    example: 'stream-offline',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  })
  @ApiHeader(idempotencyKey)
  @AcceptsAnyObject('The `event_data` of the test event', exampleData)
  @Answers(200, 'The test event', { type: EventRecord })
  @RefusesWith(refusedEvents)
  async test(
    @Param('event_type') eventType: string,
    @Req() request: FastifyRequest<{ Body: Buffer | undefined }>,
    @CurrentUser() caller: Caller,
    @Headers('idempotency-key') key: string | undefined,
  ): Promise<string> {
    const trimmed = eventType.trim();
    if (!isTextWithin(trimmed, 1, 255) || trimmed.includes('/'))
      throw ServiceError.onField('event_type', 'must be text of 1 to 255 characters without /');
    const eventData = readJsonObject(request.body);
    const event = { eventType: trimmed, eventData, idempotencyKey: key, requestId: request.id };
    return printEventRecord(await this.events.test(event, caller));
  }
}
