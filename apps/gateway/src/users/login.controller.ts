import { Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiConsumes, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Accepts, Answers, RefusesWith } from '../http/api-decorators.js';
import { AcceptsForms, FormOrJsonBody } from '../http/form-body.decorator.js';
import { CrossSiteGuard } from './cross-site.guard.js';
import { LoginBody, TokenReply } from './users.dto.js';
import { UsersService } from './users.service.js';

/** Errors of both kinds of login: for a main token and for a session. */
export const refusedLogins = {
  invalid: 'The user name or password is wrong, or a field is missing',
  forbidden: 'A web page of another site sent the request, and `CORS_ORIGINS` does not name its origin',
  too_large: 'The body is larger than 256 KiB',
  too_many_requests:
    'Too many failed logins from this address or with this user name, or too many concurrent logins from this address',
  unavailable: 'The database is unavailable, or too many logins are in progress',
};

@ApiTags('Users')
@Controller('api-token-auth')
export class LoginController {
  constructor(private readonly users: UsersService) {}

  @Post()
  @HttpCode(200)
  @AllowAccess('public')
  @UseGuards(CrossSiteGuard)
  @AcceptsForms()
  @ApiOperation({
    operationId: 'getAccessToken',
    summary: 'Get your access token',
    description:
      'Returns your main token, which stays the same from your registration until somebody rotates or revokes it. If the token was ' +
      'revoked, issues a new main token. For web pages, start a session instead.',
  })
  @ApiConsumes('application/json', 'application/x-www-form-urlencoded')
  @Accepts(LoginBody)
  @Answers(200, 'The token', { type: TokenReply })
  @RefusesWith({
    ...refusedLogins,
    unsupported_media_type:
      'The content type is neither application/json nor application/x-www-form-urlencoded',
  })
  async logIn(
    @FormOrJsonBody(LoginBody) body: LoginBody,
    @Req() request: FastifyRequest,
  ): Promise<TokenReply> {
    return { token: await this.users.revealToken({ ...body, address: request.ip }) };
  }
}
