import { isDeepStrictEqual } from 'node:util';
import { Controller, Get, Put, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  getStreamer,
  getStreamerEventTypes,
  ServiceError,
  setStreamerEventTypes,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { findByAnyName, inbound } from '@stream-events/platforms';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { StreamerEventTypesBody } from './streamer-event-types.dto.js';

const missing = { not_found: 'The streamer does not exist' };

@ApiTags('Streamers')
@Controller('api/v1/streamers/:id/event-types')
export class StreamerEventTypesController {
  constructor(
    private readonly client: RequestClient,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @AllowAccess('streamers:read')
  @ApiOperation({
    operationId: 'getStreamerEventTypes',
    summary: 'Get the event types of a streamer',
    description: '`event_types` is null if the streamer is subscribed to all active event types.',
  })
  @DescribesId('The id of the streamer')
  @Answers(200, 'The event types', { type: StreamerEventTypesBody })
  @RefusesWith(missing)
  async show(@Id() id: string, @Req() request: FastifyRequest): Promise<StreamerEventTypesBody> {
    const userId = await this.findUserId(id, request);
    return toBody(
      await this.client.request(getStreamerEventTypes, { userId }, { correlationId: request.id }),
    );
  }

  @Put()
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'updateStreamerEventTypes',
    summary: 'Choose the event types of a streamer',
    description:
      'Owners only. Subscribes the streamer only to the active event types in `event_types`, or to all active event types if ' +
      '`event_types` is null. Without `stream.online` and `stream.offline`, the service detects by polling whether the streamer is live.',
  })
  @DescribesId('The id of the streamer')
  @Accepts(StreamerEventTypesBody)
  @Answers(200, 'The event types', { type: StreamerEventTypesBody })
  @RefusesWith({ ...badBody, ...missing })
  async choose(
    @Id() id: string,
    @JsonBody(StreamerEventTypesBody) { event_types: names }: StreamerEventTypesBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
  ): Promise<StreamerEventTypesBody> {
    const unknown = names?.find((name) => !findByAnyName(name));
    if (unknown !== undefined) throw ServiceError.onField('event_types', 'contains an unknown event type');
    const userId = await this.findUserId(id, request);
    const order = { userId, types: names };
    const before = await this.client.request(
      getStreamerEventTypes,
      { userId },
      { correlationId: request.id },
    );
    const chosen = await this.audit.recordReply(
      this.client.request(setStreamerEventTypes, order, { correlationId: request.id }),
      (reply) =>
        isDeepStrictEqual(reply, before)
          ? undefined
          : { action: 'streamer.event_types_chosen', by, objectId: id },
    );
    return toBody(chosen);
  }

  private async findUserId(id: string, request: FastifyRequest): Promise<string> {
    const { platformId } = await this.client.request(getStreamer, { id }, { correlationId: request.id });
    return platformId;
  }
}

function toBody({ types }: { types: string[] | null }): StreamerEventTypesBody {
  return { event_types: types?.map((type) => inbound.toEventType(type)) ?? null };
}
