import { Controller, Get, Param, Put, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  getPlatformStatus,
  isTextWithin,
  listEventTypes,
  listSubscriptions,
  ServiceError,
  setEventType,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { Accepts, Answers, badBody, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { ListLinks } from '../paging/list-links.js';
import { PageParameters } from '../paging/page-parameters.decorator.js';
import { AllowAccess } from '../users/access.guard.js';
import { EventTypeRecord, EventTypeStateBody, toEventTypeRecord } from './event-types.dto.js';
import { PlatformStatus, toPlatformStatus } from './platform-status.dto.js';
import { parseSubscriptionListQuery } from './subscription-list.query.js';
import { SubscriptionPage, toSubscriptionRecord } from './subscriptions.dto.js';

@ApiTags('Platform')
@Controller('api/v1/platform')
export class PlatformController {
  constructor(
    private readonly client: RequestClient,
    private readonly links: ListLinks,
  ) {}

  @Get('status')
  @ApiOperation({
    summary: 'Show how things stand with the platform',
    description: 'From what the service knows: the platform is not asked. No secret is ever shown.',
  })
  @Answers(200, 'The status', { type: PlatformStatus })
  @RequiresToken()
  async showStatus(@Req() request: FastifyRequest): Promise<PlatformStatus> {
    return toPlatformStatus(await this.client.request(getPlatformStatus, {}, { correlationId: request.id }));
  }

  @Get('subscriptions')
  @ApiOperation({
    summary: 'List subscriptions, newest first',
    description:
      'What the platform is asked to tell: one for each streamer that is not disabled and each active event type, each with its ' +
      'state. Follow `next` until it is null.',
  })
  @ApiQuery({
    name: 'status',
    required: false,
    type: String,
    description: 'Only those of this status',
    example: 'enabled',
  })
  @PageParameters('Subscriptions')
  @Answers(200, 'A page of subscriptions', { type: SubscriptionPage })
  @RequiresToken()
  @RefusesWith({ invalid: 'A parameter is wrong: status, page_size or cursor' })
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
  @ApiOperation({
    summary: 'List the platform’s event types',
    description: 'All of them, by type and version. Only the newest version of a type is ever active.',
  })
  @Answers(200, 'The event types', { type: EventTypeRecord, isArray: true })
  @RequiresToken()
  async listEventTypes(@Req() request: FastifyRequest): Promise<EventTypeRecord[]> {
    const { eventTypes } = await this.client.request(listEventTypes, {}, { correlationId: request.id });
    return eventTypes.map(toEventTypeRecord);
  }

  @Put('event-types/:type')
  @AllowAccess('owner')
  @ApiOperation({
    summary: 'Subscribe every streamer to an event type, or no more',
    description: 'Owners only. In its newest version. The platform is asked in the background.',
  })
  @ApiParam({
    name: 'type',
    description: 'As the platform writes it, or as events have it',
    example: 'stream.online',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  })
  @Accepts(EventTypeStateBody)
  @Answers(200, 'The event type as changed', { type: EventTypeRecord })
  @RequiresToken()
  @RefusesWith({
    ...badBody,
    forbidden: 'The token is not an owner’s',
    not_found: 'There is no such event type',
    conflict: 'It cannot be made active, and why',
  })
  async setEventType(
    @Param('type') type: string,
    @JsonBody(EventTypeStateBody) { active }: EventTypeStateBody,
    @Req() request: FastifyRequest,
  ): Promise<EventTypeRecord> {
    if (!isTextWithin(type, 1, 255)) throw new ServiceError('not_found', 'There is no such event type.');
    return toEventTypeRecord(
      await this.client.request(setEventType, { type, active }, { correlationId: request.id }),
    );
  }
}
