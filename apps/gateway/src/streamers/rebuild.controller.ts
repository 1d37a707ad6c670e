import { Controller, Get, HttpCode, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { getRebuild, rebuildStreams } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { Answers, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { AllowAccess } from '../users/access.guard.js';
import { RebuildRecord, toRebuildRecord } from './rebuild.dto.js';

const forbidden = { forbidden: 'The token is not an owner’s' };

@ApiTags('Streamers')
@AllowAccess('owner')
@Controller('api/v1/streamers/rebuild')
export class RebuildController {
  constructor(private readonly client: RequestClient) {}

  @Post()
  @HttpCode(202)
  @ApiOperation({
    summary: 'Rebuild all streams from the events',
    description:
      'Owners only. What the platform’s events say about streams is made anew from the stored events; streams that only polling ' +
      'has seen stay. One that is running already goes on. Takes no body.',
  })
  @Answers(202, 'It runs: ask for its progress', { type: RebuildRecord })
  @RequiresToken()
  @RefusesWith(forbidden)
  async begin(@Req() request: FastifyRequest): Promise<RebuildRecord> {
    return toRebuildRecord(await this.client.request(rebuildStreams, {}, { correlationId: request.id }));
  }

  @Get()
  @ApiOperation({ summary: 'Show how far rebuilding is', description: 'Owners only.' })
  @Answers(200, 'The latest rebuilding', { type: RebuildRecord })
  @RequiresToken()
  @RefusesWith(forbidden)
  async show(@Req() request: FastifyRequest): Promise<RebuildRecord> {
    return toRebuildRecord(await this.client.request(getRebuild, {}, { correlationId: request.id }));
  }
}
