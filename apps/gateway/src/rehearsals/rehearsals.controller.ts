import { Controller, Delete, Get, HttpCode, Patch, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, type Actor, type Caller } from '../access/caller.js';
import { recordBytes, StoresData } from '../access/stores-data.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { rehearsalLimits } from './rehearsal-limits.js';
import { RehearsalBody, RehearsalChangeBody, RehearsalRecord, toRehearsalRecord } from './rehearsals.dto.js';
import { RehearsalsService } from './rehearsals.service.js';

const { perUser, eventsPerSecond, maxIdleHours, keptPerUser } = rehearsalLimits;
const missing = {
  not_found: 'The rehearsal does not exist, or is for another user’s connections and you are not an owner',
};

@ApiTags('Rehearsals')
@AllowAccess(['events:read', 'events:write'])
@Controller('api/v1/rehearsals')
export class RehearsalsController {
  constructor(
    private readonly rehearsals: RehearsalsService,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @StoresData(recordBytes)
  @ApiOperation({
    operationId: 'createRehearsal',
    summary: 'Rehearse a stream or a time range',
    description:
      'Replays the stored events of a stream or a time range, with their original timing, to your live connections named `connection`. ' +
      'The events have the origin `replay`. The rehearsal waits while no connection with this name is open. After a gateway restart, ' +
      'the rehearsal continues and can send a few events twice. The rehearsal ends at the end of the range, or after it was paused ' +
      `or had no connection for ${maxIdleHours} hours. A rehearsal sends at most ${eventsPerSecond.toLocaleString('en')} events per ` +
      'second, and no faster than the connections read. The request fails if the body has an unknown field, because a misspelled ' +
      'filter would send every event.',
  })
  @Accepts(RehearsalBody)
  @Answers(201, 'The rehearsal is running. `Location` shows its progress', {
    type: RehearsalRecord,
    location: true,
  })
  @RefusesWith({
    ...badBody,
    forbidden: 'The token lacks a scope, or `user` is another user and you are not an owner',
    not_found: 'The streamer does not exist, or does not have this stream',
    conflict: 'A rehearsal for this connection is already running',
    too_many_requests: `${perUser} rehearsals for this user or ${rehearsalLimits.total} in total are running, or you send too many requests per second`,
  })
  async begin(
    @JsonBody(RehearsalBody) body: RehearsalBody,
    @CurrentUser() caller: Caller,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RehearsalRecord> {
    const rehearsal = await this.rehearsals.begin(body, caller, request.id);
    this.audit.record({ action: 'rehearsal.started', by, objectId: rehearsal.id });
    reply.header('Location', `/api/v1/rehearsals/${rehearsal.id}`);
    return toRehearsalRecord(rehearsal);
  }

  @Get()
  @ApiOperation({
    operationId: 'listRehearsals',
    summary: 'List rehearsals',
    description: `Lists the rehearsals for your connections, newest first. For owners, lists the rehearsals of all users. The service keeps all running rehearsals and the ${keptPerUser} newest rehearsals per user.`,
  })
  @Answers(200, 'The rehearsals', { type: RehearsalRecord, isArray: true })
  async list(@CurrentUser() caller: Caller): Promise<RehearsalRecord[]> {
    return (await this.rehearsals.list(caller)).map(toRehearsalRecord);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getRehearsal',
    summary: 'Get a rehearsal',
    description: 'Shows the progress of the rehearsal. The record is at most half a second old.',
  })
  @DescribesId('The id of the rehearsal')
  @Answers(200, 'The rehearsal', { type: RehearsalRecord })
  @RefusesWith(missing)
  async show(@Id() id: string, @CurrentUser() caller: Caller): Promise<RehearsalRecord> {
    return toRehearsalRecord(await this.rehearsals.get(id, caller));
  }

  @Patch(':id')
  @ApiOperation({
    operationId: 'updateRehearsal',
    summary: 'Change the speed or position of a rehearsal, or pause or continue it',
    description: 'A change takes effect within a second. Fields that you leave out keep their values.',
  })
  @DescribesId('The id of the rehearsal')
  @Accepts(RehearsalChangeBody)
  @Answers(200, 'The changed rehearsal', { type: RehearsalRecord })
  @RefusesWith({ ...badBody, ...missing, conflict: 'The rehearsal has ended' })
  async change(
    @Id() id: string,
    @JsonBody(RehearsalChangeBody) body: RehearsalChangeBody,
    @CurrentUser() caller: Caller,
  ): Promise<RehearsalRecord> {
    return toRehearsalRecord(await this.rehearsals.change(id, body, caller));
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteRehearsal',
    summary: 'Stop or delete a rehearsal',
    description: 'Stops a running rehearsal within a second, or deletes a rehearsal that has ended.',
  })
  @DescribesId('The id of the rehearsal')
  @Answers(204, 'Stopped or deleted')
  @RefusesWith(missing)
  async remove(@Id() id: string, @CurrentUser() caller: Caller): Promise<void> {
    await this.rehearsals.remove(id, caller);
  }
}
