import { Controller, Delete, Get, HttpCode, Post, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply } from 'fastify';
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
import type { Caller } from '../users/access-tokens.service.js';
import { AllowAccess, CurrentUser } from '../users/access.guard.js';
import { ReplayRunner } from './replay-runner.service.js';
import { ReplayBody, ReplayRecord, toReplayOrder, toReplayRecord } from './replays.dto.js';
import { ReplaysRepository } from './replays.repository.js';

const forbidden = { forbidden: 'The token is not an owner’s' };
const missing = { ...forbidden, not_found: 'There is no such replay' };

@ApiTags('Replays')
@AllowAccess('owner')
@Controller('api/v1/replays')
export class ReplaysController {
  constructor(
    private readonly replays: ReplaysRepository,
    private readonly runner: ReplayRunner,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'createReplay',
    summary: 'Replay a range of events',
    description:
      'Owners only. The stored events of the range that pass all the filters go out again, oldest first, like a replay of ' +
      'each. It goes on when a gateway ends or a part of the service was down; a few events may go out twice then. ' +
      'At most 10 run at a time. An unknown field is refused: a misspelt filter would send everything to everybody.',
  })
  @Accepts(ReplayBody)
  @Answers(201, 'It is running: ask for its progress', { type: ReplayRecord, location: true })
  @RequiresToken()
  @RefusesWith({ ...badBody, ...forbidden, conflict: '10 replays run already' })
  async begin(
    @JsonBody(ReplayBody) body: ReplayBody,
    @CurrentUser() caller: Caller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ReplayRecord> {
    const replay = await this.runner.begin(toReplayOrder(body, caller.username));
    reply.header('Location', `/api/v1/replays/${replay.id}`);
    return toReplayRecord(replay);
  }

  @Get()
  @ApiOperation({
    operationId: 'listReplays',
    summary: 'List replays of ranges, newest first',
    description: 'Owners only. Those that run, and of the others the newest: 100 in all are kept.',
  })
  @Answers(200, 'The replays', { type: ReplayRecord, isArray: true })
  @RequiresToken()
  @RefusesWith(forbidden)
  async list(): Promise<ReplayRecord[]> {
    return (await this.replays.list()).map(toReplayRecord);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getReplay',
    summary: 'Show the progress of a replay of a range',
    description: 'Owners only.',
  })
  @DescribesId('The id of the replay')
  @Answers(200, 'The replay', { type: ReplayRecord })
  @RequiresToken()
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
    summary: 'Cancel or remove a replay of a range',
    description:
      'Owners only. One that runs is cancelled, and sends nothing more a second later; one that has ended is removed.',
  })
  @DescribesId('The id of the replay')
  @Answers(204, 'Cancelled, or removed')
  @RequiresToken()
  @RefusesWith(missing)
  async remove(@Id() id: string): Promise<void> {
    if (!(await this.replays.cancelOrRemove(id))) throw unknownReplay(id);
  }
}

function unknownReplay(id: string): ServiceError {
  return new ServiceError('not_found', `There is no replay ${id}.`);
}
