import { Controller, Delete, Get, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import { ReplayRunner } from './replay-runner.service.js';
import { ReplayBody, ReplayRecord, toReplayOrder, toReplayRecord } from './replays.dto.js';
import { ReplaysRepository } from './replays.repository.js';

const missing = { not_found: 'The replay does not exist' };

@ApiTags('Replays')
@AllowAccess('owner')
@Controller('api/v1/replays')
export class ReplaysController {
  constructor(
    private readonly replays: ReplaysRepository,
    private readonly runner: ReplayRunner,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'createReplay',
    summary: 'Replay a range of events',
    description:
      'Owners only. Sends the stored events of a time range that match all filters to live clients again, oldest first. After a ' +
      'gateway restart or an outage, a replay continues and can send a few events twice. At most 10 replays run concurrently. The ' +
      'request fails if the body has an unknown field, because a misspelled filter would replay every event to every client.',
  })
  @Accepts(ReplayBody)
  @Answers(201, 'The replay is running. `Location` shows its progress', {
    type: ReplayRecord,
    location: true,
  })
  @RefusesWith({ ...badBody, conflict: '10 replays are already running' })
  async begin(
    @JsonBody(ReplayBody) body: ReplayBody,
    @CurrentActor() by: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayRecord> {
    const replay = await this.runner.begin(toReplayOrder(body, by.username ?? ''));
    this.audit.record({ action: 'replay.started', by, objectId: replay.id });
    reply.header('Location', `/api/v1/replays/${replay.id}`);
    return toReplayRecord(replay);
  }

  @Get()
  @ApiOperation({
    operationId: 'listReplays',
    summary: 'List replays of ranges',
    description:
      'Owners only. Lists all replays, newest first. The service keeps all running replays and the 100 newest replays.',
  })
  @Answers(200, 'The replays', { type: ReplayRecord, isArray: true })
  async list(): Promise<ReplayRecord[]> {
    return (await this.replays.list()).map(toReplayRecord);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getReplay',
    summary: 'Get a replay of a range',
    description: 'Owners only. Shows the progress of the replay.',
  })
  @DescribesId('The id of the replay')
  @Answers(200, 'The replay', { type: ReplayRecord })
  @RefusesWith(missing)
  async show(@Id() id: string): Promise<ReplayRecord> {
    const replay = await this.replays.find(id);
    if (!replay) throw unknownReplay(id);
    return toReplayRecord(replay);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteReplay',
    summary: 'Cancel or delete a replay of a range',
    description:
      'Owners only. Cancels a running replay, which stops within a second, or deletes a finished replay.',
  })
  @DescribesId('The id of the replay')
  @Answers(204, 'Canceled or deleted')
  @RefusesWith(missing)
  async remove(@Id() id: string, @CurrentActor() by: Actor): Promise<void> {
    if (!(await this.replays.cancelOrRemove(id))) throw unknownReplay(id);
    this.audit.record({ action: 'replay.removed', by, objectId: id });
  }
}

function unknownReplay(id: string): ServiceError {
  return new ServiceError('not_found', `The replay ${id} does not exist.`);
}
