import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiTags } from '@nestjs/swagger';
import {
  completeConnection,
  connectionCallbackPath,
  connectionStatePattern,
  ServiceError,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { validate as isUuid } from 'uuid';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers, RefusesWith } from '../http/api-decorators.js';
import { UsersService } from '../users/users.service.js';
import { ConsentConfirmation } from './connections.dto.js';

// Maximum length of `code`, longer than any authorization code of the platform.
const maxCodeLength = 1_000;

/**
 * Receives browsers that return from the platform's consent page. They have no token. `state` proves that an owner started the connection:
 * it contains the owner's id and a secret that is valid once. The response is JSON, not a redirect.
 */
@ApiTags('Platform')
@Controller(connectionCallbackPath)
export class ConnectionCallbackController {
  constructor(
    private readonly client: RequestClient,
    private readonly users: UsersService,
  ) {}

  @Get()
  @AllowAccess('public')
  @ApiOperation({
    operationId: 'completeConnection',
    summary: 'Complete a connection',
    description:
      'The platform sends the user’s browser to this address when the user gives or refuses consent. Register the address as a ' +
      'redirect URL of your application. The request needs no token, because `state` proves that an owner started the connection. ' +
      '`state` is valid once, for 10 minutes, and only while the user who started the connection is an owner.',
  })
  @ApiQuery({
    name: 'state',
    required: true,
    type: String,
    description: 'The `state` from `verification_uri`, unchanged',
  })
  @ApiQuery({
    name: 'code',
    required: false,
    type: String,
    description: 'The authorization code. Missing when the user or the platform refused consent',
  })
  @Answers(200, 'The consent was received', { type: ConsentConfirmation })
  @RefusesWith({
    invalid: '`state` or `code` is invalid, was already used, or has expired',
    conflict: 'The user or the platform refused consent',
    unavailable: 'The platform is unavailable. Start a new connection',
  })
  async complete(
    @Query() query: Record<string, unknown>,
    @Req() request: FastifyRequest,
  ): Promise<ConsentConfirmation | undefined> {
    const { state, code } = await this.read(query);
    // A HEAD request, such as for a link preview, must not use up the `state`.
    if (request.method === 'HEAD') return undefined;
    const { id } = await this.client
      .request(
        completeConnection,
        { state, ...(code !== undefined && { code }) },
        { correlationId: request.id },
      )
      .catch((error: unknown) => {
        throw error instanceof ServiceError && error.code === 'not_found' ? invalid() : error;
      });
    return {
      message: 'Consent received. The service subscribes within seconds. You can close this page.',
      connection: `/api/v1/platform/connections/${id}`,
    };
  }

  /** @throws ServiceError `invalid` */
  private async read({
    state,
    code,
  }: Record<string, unknown>): Promise<{ state: string; code: string | undefined }> {
    if (typeof state !== 'string') throw invalid();
    const userId = connectionStatePattern.exec(state)?.[1];
    if (userId === undefined || !(await this.isOwner(userId))) throw invalid();
    if (code === undefined) return { state, code };
    if (typeof code !== 'string' || code === '' || code.length > maxCodeLength) throw invalid();
    return { state, code };
  }

  private async isOwner(userId: string): Promise<boolean> {
    const user = isUuid(userId) ? await this.users.find(userId) : null;
    return user?.role === 'owner' && !user.isDisabled;
  }
}

function invalid(): ServiceError {
  return new ServiceError(
    'invalid',
    'This link is invalid, has expired, or was already used. Start a new connection.',
  );
}
