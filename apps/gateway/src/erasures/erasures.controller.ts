import { Controller, Get, Post, Req, Res } from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  createErasure,
  getErasure,
  listErasures,
  maxListedErasures,
  ServiceError,
  type CreateErasureRequest,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, badBody, DescribesId, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { CurrentActor, type Actor } from '../access/caller.js';
import { ErasureBody, ErasureCountRecord, ErasureRecord, toErasureRecord } from './erasures.dto.js';

/** The user to erase, by id or by hash. */
type CreatedFor = Pick<CreateErasureRequest, 'platformUserId' | 'userHash'>;

@ApiTags('Erasures')
@AllowAccess('owner')
@ApiExtraModels(ErasureCountRecord)
@Controller('api/v1/erasures')
export class ErasuresController {
  constructor(
    private readonly client: RequestClient,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @ApiOperation({
    operationId: 'createErasure',
    summary: 'Erase a platform user',
    description:
      'Owners only. Erases everything that names the user and that the service receives up to 5 s after the request: events, dead ' +
      'letters, messages on the streams, the cached picture, replays and rehearsals of the user’s events, and, if the user is a ' +
      'monitored streamer, the streamer with all streams. The erasure runs in the ' +
      'background; request the URL in `Location` for its progress. An erasure cannot be undone or canceled, so start with a dry run. ' +
      'Backups, and copies that clients have already received, are not erased.',
  })
  @Accepts(ErasureBody)
  @Answers(201, 'The erasure, which runs in the background', { type: ErasureRecord, location: true })
  @RefusesWith({ ...badBody, conflict: 'Too many erasures are already waiting' })
  async create(
    @JsonBody(ErasureBody) { platform_user_id, user_hash, dry_run = false }: ErasureBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ErasureRecord> {
    const order = { ...toUser(platform_user_id, user_hash), isDryRun: dry_run };
    const action = dry_run ? 'erasure.dry_run_started' : 'erasure.started';
    const erasure = await this.audit.recordReply(
      this.client.request(createErasure, order, { correlationId: request.id }),
      // Do not record the id of the erased user: the audit log would keep it for 400 days.
      (created) => ({ action, by, objectId: created?.id ?? null }),
    );
    reply.header('Location', `/api/v1/erasures/${erasure.id}`);
    return toErasureRecord(erasure);
  }

  @Get()
  @ApiOperation({
    operationId: 'listErasures',
    summary: 'List erasures',
    description: `Owners only. Lists the last ${maxListedErasures} erasures and dry runs, newest first.`,
  })
  @Answers(200, 'The erasures', { type: ErasureRecord, isArray: true })
  async list(@Req() request: FastifyRequest): Promise<ErasureRecord[]> {
    const { erasures } = await this.client.request(listErasures, {}, { correlationId: request.id });
    return erasures.map(toErasureRecord);
  }

  @Get(':id')
  @ApiOperation({
    operationId: 'getErasure',
    summary: 'Get an erasure',
    description: 'Owners only. Returns the progress, and the number of records found so far.',
  })
  @DescribesId('The id of the erasure')
  @Answers(200, 'The erasure', { type: ErasureRecord })
  @RefusesWith({ not_found: 'The erasure does not exist' })
  async show(@Id() id: string, @Req() request: FastifyRequest): Promise<ErasureRecord> {
    return toErasureRecord(await this.client.request(getErasure, { id }, { correlationId: request.id }));
  }
}

/** @throws ServiceError `invalid` unless the body has exactly one of the two fields */
function toUser(platformUserId: string | undefined, userHash: string | undefined): CreatedFor {
  if (platformUserId !== undefined && userHash === undefined) return { platformUserId };
  if (userHash !== undefined && platformUserId === undefined) return { userHash };
  throw ServiceError.onField('platform_user_id', 'send either platform_user_id or user_hash');
}
