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
import {
  Accepts,
  Answers,
  badBody,
  DescribesId,
  RefusesWith,
  RequiresToken,
} from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { WholeList } from '../paging/whole-list.js';
import { StreamerBody, StreamerChangesBody, StreamerRecord, toStreamerRecord } from './streamers.dto.js';

const missing = { not_found: 'There is no such streamer' };
const badName = {
  ...badBody,
  invalid:
    'A field or the body is missing or wrong, or the platform does not know the name (on platform_username)',
  unavailable: 'The platform does not answer: nothing is stored',
};

@ApiTags('Streamers')
@Controller('api/v1/streamers')
export class StreamersController {
  private readonly streamers: WholeList;

  constructor(private readonly client: RequestClient) {
    this.streamers = new WholeList(async (after, correlationId) => {
      const page = await client.request(listStreamers, after === undefined ? {} : { after }, {
        correlationId,
      });
      return { records: page.streamers.map(toStreamerRecord), next: page.next };
    });
  }

  @Get()
  @Header('content-type', 'application/json; charset=utf-8')
  @ApiOperation({ summary: 'List all streamers, oldest first', description: 'All of them at once.' })
  @Answers(200, 'The streamers', { type: StreamerRecord, isArray: true })
  @RequiresToken()
  async list(@Req() request: FastifyRequest): Promise<Buffer> {
    return this.streamers.read(request.id);
  }

  @Post()
  @ApiOperation({
    summary: 'Monitor a streamer',
    description:
      'The platform is asked for the user’s id. From then on the service records when the streamer is live, and each stream.',
  })
  @Accepts(StreamerBody)
  @Answers(201, 'The streamer', { type: StreamerRecord, location: true })
  @RequiresToken()
  @RefusesWith({ ...badName, conflict: 'The user is monitored already, maybe under another name' })
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
  @ApiOperation({ summary: 'Show a streamer', description: 'One of the list.' })
  @DescribesId('The streamer’s id')
  @Answers(200, 'The streamer', { type: StreamerRecord })
  @RequiresToken()
  @RefusesWith(missing)
  async show(@Id() id: string, @Req() request: FastifyRequest): Promise<StreamerRecord> {
    return toStreamerRecord(await this.client.request(getStreamer, { id }, { correlationId: request.id }));
  }

  @Put(':id')
  @ApiOperation({
    summary: 'Replace a streamer',
    description: 'Booleans that are left out become false. The name must be the same user’s.',
  })
  @DescribesId('The streamer’s id')
  @Accepts(StreamerBody)
  @Answers(200, 'The streamer as replaced', { type: StreamerRecord })
  @RequiresToken()
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
  @ApiOperation({
    summary: 'Change a streamer',
    description: 'Fields that are left out stay as they are. The name must be the same user’s.',
  })
  @DescribesId('The streamer’s id')
  @Accepts(StreamerChangesBody)
  @Answers(200, 'The streamer as changed', { type: StreamerRecord })
  @RequiresToken()
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
  @HttpCode(204)
  @ApiOperation({
    summary: 'Monitor a streamer no more',
    description: 'Its streams are gone too, and so are its subscriptions on the platform. Its events stay.',
  })
  @DescribesId('The streamer’s id')
  @Answers(204, 'Deleted')
  @RequiresToken()
  @RefusesWith(missing)
  async delete(@Id() id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.client.request(deleteStreamer, { id }, { correlationId: request.id });
  }
}

function withDefaults({ platform_username, streaming = false, disabled = false }: StreamerBody) {
  return { platformUsername: platform_username, streaming, disabled };
}
