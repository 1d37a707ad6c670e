import { Controller, Delete, Get, Header, HttpCode, Patch, Post, Put, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  createStreamer,
  deleteStreamer,
  getStreamer,
  listStreamers,
  updateStreamer,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { StoresData } from '../access/stores-data.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { WholeList } from '../paging/whole-list.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import { StreamerBody, StreamerChangesBody, StreamerRecord, toStreamerRecord } from './streamers.dto.js';

const missing = { not_found: 'The streamer does not exist' };
const badName = {
  ...badBody,
  invalid:
    'The body or a field is missing or invalid, or the platform has no user with this name (on `platform_username`)',
  unavailable: 'The platform is unavailable, and nothing was stored',
};

@ApiTags('Streamers')
@Controller('api/v1/streamers')
export class StreamersController {
  private readonly streamers: WholeList;

  constructor(
    private readonly client: RequestClient,
    private readonly audit: AuditLog,
  ) {
    this.streamers = new WholeList(async (after, correlationId) => {
      const page = await client.request(listStreamers, after === undefined ? {} : { after }, {
        correlationId,
      });
      return { records: page.streamers.map(toStreamerRecord), next: page.next };
    });
  }

  @Get()
  @AllowAccess('streamers:read')
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({
    operationId: 'listStreamers',
    summary: 'List all streamers, oldest first',
    description: 'Returns the whole list, without pages.',
  })
  @Answers(200, 'The streamers', { type: StreamerRecord, isArray: true })
  async list(@Req() request: FastifyRequest): Promise<Buffer> {
    return this.streamers.read(request.id);
  }

  @Post()
  @AllowAccess('streamers:write')
  @StoresData()
  @ApiOperation({
    operationId: 'createStreamer',
    summary: 'Monitor a streamer',
    description:
      'Looks up the user’s id on the platform. The service then monitors whether the streamer is live, and records every stream.',
  })
  @Accepts(StreamerBody)
  @Answers(201, 'The streamer', { type: StreamerRecord, location: true })
  @RefusesWith({ ...badName, conflict: 'The user is already monitored, perhaps under another name' })
  async create(
    @JsonBody(StreamerBody) body: StreamerBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamerRecord> {
    const streamer = await this.client.request(createStreamer, withDefaults(body), {
      correlationId: request.id,
    });
    reply.header('Location', `/api/v1/streamers/${streamer.id}`);
    return toStreamerRecord(streamer);
  }

  @Get(':id')
  @AllowAccess('streamers:read')
  @ApiOperation({ operationId: 'getStreamer', summary: 'Get a streamer' })
  @DescribesId('The id of the streamer')
  @Answers(200, 'The streamer', { type: StreamerRecord })
  @RefusesWith(missing)
  async show(@Id() id: string, @Req() request: FastifyRequest): Promise<StreamerRecord> {
    return toStreamerRecord(await this.client.request(getStreamer, { id }, { correlationId: request.id }));
  }

  @Put(':id')
  @AllowAccess('streamers:write')
  @StoresData()
  @ApiOperation({
    operationId: 'replaceStreamer',
    summary: 'Replace a streamer',
    description: 'Booleans that you leave out become false. The name must belong to the same user.',
  })
  @DescribesId('The id of the streamer')
  @Accepts(StreamerBody)
  @Answers(200, 'The replaced streamer', { type: StreamerRecord })
  @RefusesWith({ ...badName, ...missing })
  async replace(
    @Id() id: string,
    @JsonBody(StreamerBody) body: StreamerBody,
    @Req() request: FastifyRequest,
  ): Promise<StreamerRecord> {
    const changes = { id, ...withDefaults(body) };
    return toStreamerRecord(
      await this.client.request(updateStreamer, changes, { correlationId: request.id }),
    );
  }

  @Patch(':id')
  @AllowAccess('streamers:write')
  @StoresData()
  @ApiOperation({
    operationId: 'updateStreamer',
    summary: 'Update a streamer',
    description: 'Fields that you leave out keep their values. The name must belong to the same user.',
  })
  @DescribesId('The id of the streamer')
  @Accepts(StreamerChangesBody)
  @Answers(200, 'The updated streamer', { type: StreamerRecord })
  @RefusesWith({ ...badName, ...missing })
  async update(
    @Id() id: string,
    @JsonBody(StreamerChangesBody) body: StreamerChangesBody,
    @Req() request: FastifyRequest,
  ): Promise<StreamerRecord> {
    const changes = {
      id,
      ...(body.platform_username !== undefined && { platformUsername: body.platform_username }),
      ...(body.streaming !== undefined && { streaming: body.streaming }),
      ...(body.disabled !== undefined && { disabled: body.disabled }),
    };
    return toStreamerRecord(
      await this.client.request(updateStreamer, changes, { correlationId: request.id }),
    );
  }

  @Delete(':id')
  @AllowAccess('streamers:write')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteStreamer',
    summary: 'Stop monitoring a streamer',
    description:
      'Also deletes the streamer’s streams and the subscriptions to the streamer’s events on the platform. Keeps the stored events.',
  })
  @DescribesId('The id of the streamer')
  @Answers(204, 'Deleted')
  @RefusesWith(missing)
  async delete(@Id() id: string, @CurrentActor() by: Actor, @Req() request: FastifyRequest): Promise<void> {
    await this.audit.recordReply(
      this.client.request(deleteStreamer, { id }, { correlationId: request.id }),
      () => ({ action: 'streamer.deleted', by, objectId: id }),
    );
  }
}

function withDefaults({ platform_username, streaming = false, disabled = false }: StreamerBody) {
  return { platformUsername: platform_username, streaming, disabled };
}
