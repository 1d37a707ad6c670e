import { Controller, Delete, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, type Actor, type Caller } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Accepts, Answers, RefusesWith } from '../http/api-decorators.js';
import { JsonBody } from '../http/json-body.decorator.js';
import { IssuedTokenRecord, toIssuedTokenRecord } from '../tokens/tokens.dto.js';
import { Tokens } from '../tokens/tokens.service.js';
import { CrossSiteGuard } from './cross-site.guard.js';
import { refusedLogins } from './login.controller.js';
import { LoginBody } from './users.dto.js';
import { UsersService } from './users.service.js';

@ApiTags('Tokens')
@Controller('api/v1/sessions')
export class SessionsController {
  constructor(
    private readonly users: UsersService,
    private readonly tokens: Tokens,
    private readonly audit: AuditLog,
  ) {}

  @Post()
  @AllowAccess('public')
  @UseGuards(CrossSiteGuard)
  @ApiOperation({
    operationId: 'startSession',
    summary: 'Start a session',
    description:
      'For web pages: returns a token that is valid for 12 hours and has all rights of the user. The browser never needs the main token.',
  })
  @Accepts(LoginBody)
  @Answers(201, 'The session with its key', { type: IssuedTokenRecord, location: true })
  @RefusesWith({ ...refusedLogins, unsupported_media_type: 'The content type is not application/json' })
  async start(
    @JsonBody(LoginBody) body: LoginBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<IssuedTokenRecord> {
    const issued = await this.users.startSession({ ...body, address: request.ip });
    reply.header('Location', `/api/v1/tokens/${issued.token.id}`);
    return toIssuedTokenRecord(issued);
  }

  @Delete('current')
  @HttpCode(204)
  @AllowAccess('account')
  @ApiOperation({
    operationId: 'endSession',
    summary: 'End your session',
    description: 'Every gateway rejects the token of this request within a second.',
  })
  @Answers(204, 'Ended')
  @RefusesWith({ conflict: 'The token of this request is not a session' })
  async end(@CurrentUser() { token }: Caller, @CurrentActor() by: Actor): Promise<void> {
    if (token.kind !== 'session')
      throw new ServiceError('conflict', 'The token of this request is not a session.');
    await this.tokens.revoke(token.id);
    this.audit.record({ action: 'token.revoked', by, objectId: token.id });
  }
}
