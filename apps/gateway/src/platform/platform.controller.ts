import { Controller, Get, Param, Put, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  getPlatformStatus,
  isTextWithin,
  listEventTypes,
  listSubscriptions,
  ServiceError,
  setEventType,
  type EventTypeMessage,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { findByAnyName, findEventType } from '@stream-events/platforms';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, RefusesWith } from '../http/api-decorators.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import {
  EventTypeDetails,
  EventTypeRecord,
  EventTypeStateBody,
  toEventTypeDetails,
  toEventTypeRecord,
} from './event-types.dto.js';
import { PlatformStatus, toPlatformStatus } from './platform-status.dto.js';
import { parseSubscriptionListQuery } from './subscription-list.query.js';
import { SubscriptionPage, toSubscriptionRecord } from './subscriptions.dto.js';

/** Documents the event type in the path. */
function DescribesEventType(): MethodDecorator {
  return ApiParam({
    name: 'type',
    description:
      'The type as the platform writes it (`stream.online`), or as it appears in events (`stream-online`)',
    example: 'stream.online',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  });
}

@ApiTags('Platform')
@Controller('api/v1/platform')
export class PlatformController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
    private readonly audit: AuditLog,
  ) {}

  @Get('status')
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'getPlatformStatus',
    summary: 'Get the state of the connection to the platform',
    description:
      'Answers from the service’s own records; makes no call to the platform. The response contains no secrets.',
  })
  @Answers(200, 'The status', { type: PlatformStatus })
  async showStatus(@Req() request: FastifyRequest): Promise<PlatformStatus> {
    return toPlatformStatus(await this.client.request(getPlatformStatus, {}, { correlationId: request.id }));
  }

  @Get('subscriptions')
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'listSubscriptions',
    summary: 'List subscriptions, newest first',
    description:
      'Lists the subscriptions that the service wants on the platform, each with its state. An active event type needs one ' +
      'subscription for each enabled streamer, two (raids from and to the channel), or a single one for the application. If ' +
      'event types were chosen for a streamer, the streamer gets subscriptions to these types only. Follow `next` until it is null.',
  })
  @ApiQuery({
    name: 'status',
    required: false,
    type: String,
    description: 'Return only subscriptions with this status',
    example: 'enabled',
  })
  @ApiQuery({
    name: 'event_type',
    required: false,
    type: String,
    description: 'Return only subscriptions to this event type',
    example: 'stream-online',
  })
  @ApiQuery({
    name: 'channel_id',
    required: false,
    type: String,
    description: 'Return only subscriptions to events of the channel with this platform id',
    example: '47019283',
  })
  @PageParameters('Subscriptions')
  @Answers(200, 'A page of subscriptions', { type: SubscriptionPage })
  @RefusesWith({ invalid: 'A parameter is invalid' })
  async listSubscriptions(
    @Query() parameters: Record<string, string>,
    @Req() request: FastifyRequest,
  ): Promise<SubscriptionPage> {
    const query = parseSubscriptionListQuery(parameters);
    const page = await this.client.request(listSubscriptions, query.request, { correlationId: request.id });
    return {
      count: page.count,
      next: page.next && this.links.of(request, query.list, page.next),
      previous: page.previous && this.links.of(request, query.list, page.previous),
      results: page.subscriptions.map(toSubscriptionRecord),
    };
  }

  @Get('event-types')
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'listEventTypes',
    summary: 'List the platform’s event types',
    description: 'Sorted by type and version. Only the newest version of a type can be active.',
  })
  @Answers(200, 'The event types', { type: EventTypeRecord, isArray: true })
  async listEventTypes(@Req() request: FastifyRequest): Promise<EventTypeRecord[]> {
    const { eventTypes } = await this.client.request(listEventTypes, {}, { correlationId: request.id });
    return eventTypes.map(toEventTypeRecord);
  }

  @Get('event-types/:type')
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'getEventType',
    summary: 'Get an event type, with the JSON Schema of its events and an example',
  })
  @DescribesEventType()
  @ApiQuery({
    name: 'version',
    required: false,
    type: String,
    description: 'The version of the event type. Default: the newest version',
    example: '1',
  })
  @Answers(200, 'The event type', { type: EventTypeDetails })
  @RefusesWith({ not_found: 'The event type or its version does not exist' })
  async showEventType(
    @Param('type') name: string,
    @Query('version') version: string | undefined,
    @Req() request: FastifyRequest,
  ): Promise<EventTypeDetails> {
    const newest = findByAnyName(name);
    const row = newest && findEventType(newest.type, version || newest.version);
    const { eventTypes } = await this.client.request(listEventTypes, {}, { correlationId: request.id });
    const eventType = eventTypes.find((each) => each.type === row?.type && each.version === row.version);
    if (row && eventType) return toEventTypeDetails(eventType, row);
    throw new ServiceError('not_found', 'There is no event type with this name and version.');
  }

  @Put('event-types/:type')
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'updateEventType',
    summary: 'Activate or deactivate an event type',
    description:
      'Owners only. Subscribes every streamer to the newest version of the type, or removes these subscriptions. Skips ' +
      'streamers whose own list of event types does not contain the type. The service applies the change on the platform in the background.',
  })
  @DescribesEventType()
  @Accepts(EventTypeStateBody)
  @Answers(200, 'The updated event type', { type: EventTypeRecord })
  @RefusesWith({
    ...badBody,
    not_found: 'The event type does not exist',
    conflict: 'The event type cannot be activated. `detail` gives the reason',
  })
  async setEventType(
    @Param('type') type: string,
    @JsonBody(EventTypeStateBody) { active }: EventTypeStateBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
  ): Promise<EventTypeRecord> {
    if (!isTextWithin(type, 1, 255))
      throw new ServiceError('not_found', 'There is no event type with this name.');
    const change = { type, active };
    const { eventTypes: before } = await this.client.request(
      listEventTypes,
      {},
      { correlationId: request.id },
    );
    const wasActive = (changed: EventTypeMessage): boolean | undefined =>
      before.find((each) => each.type === changed.type && each.version === changed.version)?.active;
    const action = active ? 'event_type.activated' : 'event_type.deactivated';
    const eventType = await this.audit.recordReply(
      this.client.request(setEventType, change, { correlationId: request.id }),
      (changed) =>
        changed && wasActive(changed) === active
          ? undefined
          : { action, by, objectId: changed?.type ?? type },
    );
    return toEventTypeRecord(eventType);
  }
}
