import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { getRebuild, rebuildStreams } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers } from '../http/api-decorators.js';
import { RebuildRecord, toRebuildRecord } from './rebuild.dto.js';

@ApiTags('Streamers')
@AllowAccess('owner')
@Controller('api/v1/streamers/rebuild')
export class RebuildController {
  constructor(private readonly client: RequestClient) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    operationId: 'rebuildStreams',
    summary: 'Rebuild all streams from the events',
    description:
      'Owners only. Derives the streams again from the stored platform events. Keeps streams that were detected only by polling. If a ' +
      'rebuild is already running, that rebuild continues and no second rebuild starts. The request has no body.',
  })
  @Answers(202, 'The rebuild is running. `GET` on this path returns its progress', { type: RebuildRecord })
  async begin(@Req() request: FastifyRequest): Promise<RebuildRecord> {
    return toRebuildRecord(await this.client.request(rebuildStreams, {}, { correlationId: request.id }));
  }

  @Get()
  @ApiOperation({
    operationId: 'getRebuild',
    summary: 'Get the progress of the latest rebuild',
    description: 'Owners only.',
  })
  @Answers(200, 'The latest rebuild', { type: RebuildRecord })
  async show(@Req() request: FastifyRequest): Promise<RebuildRecord> {
    return toRebuildRecord(await this.client.request(getRebuild, {}, { correlationId: request.id }));
  }
}
