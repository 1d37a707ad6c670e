import {
  BadRequestException,
  Body,
  Controller,
  HttpCode,
  Inject,
  Post,
  Req,
  UseInterceptors,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiFaultsService } from '../behavior/api-faults.service.js';
import { FaultsService } from '../behavior/faults.service.js';
import { QueryAsBody } from '../http/request-parameters.js';
import { Applications } from './applications.js';
import { ConsentsService } from './consents.service.js';
import { readOptional, readText, type Parameters } from './parameters.js';
import { Tokens, type TokenOwner } from './tokens.js';

/** Response with a new access token (FACTS.md §4.1). */
interface TokenReply {
  access_token: string;
  expires_in: number;
  token_type: 'bearer';
  /** Only for a user access token, like `scope`. */
  refresh_token?: string;
  scope?: readonly string[];
}

/** The grant type of device codes (FACTS.md §4.7). */
const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Issues tokens for every grant type (FACTS.md §4.1, §4.7, §4.8). */
@Controller('oauth2/token')
export class TokenController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(Tokens) private readonly tokens: Tokens,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(ApiFaultsService) private readonly apiFaults: ApiFaultsService,
  ) {}

  @Post()
  @HttpCode(200)
  @UseInterceptors(QueryAsBody)
  issue(@Body() parameters: Parameters, @Req() request: FastifyRequest): TokenReply {
    const reply = this.answer(parameters);
    const isRefresh = readOptional(parameters, 'grant_type') === 'refresh_token';
    // The refresh succeeds, but the client never gets the response (FACTS.md §4.8).
    if (isRefresh && this.faults.take('refresh_replies_lost')) this.apiFaults.loseReply(request);
    return reply;
  }

  private answer(parameters: Parameters): TokenReply {
    const clientId = readText(parameters, 'client_id');
    switch (readText(parameters, 'grant_type')) {
      case 'client_credentials':
        this.applications.checkSecret(clientId, readText(parameters, 'client_secret'));
        return this.issueAppToken(clientId);
      case 'authorization_code':
        this.applications.checkSecret(clientId, readText(parameters, 'client_secret')); // the platform does not support PKCE
        return this.exchangeCode(clientId, parameters);
      case 'refresh_token':
        return this.refresh(clientId, parameters);
      case deviceGrantType:
        return this.collect(clientId, readText(parameters, 'device_code'));
      default:
        throw new BadRequestException('invalid grant type');
    }
  }

  private issueAppToken(clientId: string): TokenReply {
    const { token, expiresInSeconds } = this.tokens.issue({ clientId, userId: null, scopes: [] });
    return { access_token: token, expires_in: expiresInSeconds, token_type: 'bearer' };
  }

  private exchangeCode(clientId: string, parameters: Parameters): TokenReply {
    const code = this.consents.takeCode(readText(parameters, 'code'));
    if (code?.clientId !== clientId || code.redirectUri !== readText(parameters, 'redirect_uri')) {
      throw new BadRequestException('Invalid authorization code');
    }
    return this.issueFirst(code);
  }

  /** Needs no client secret, not even from a confidential client. */
  private collect(clientId: string, deviceCode: string): TokenReply {
    const poll = this.consents.poll(deviceCode, clientId);
    if (poll === 'invalid' || (poll === 'pending' && this.faults.take('device_polls_invalid'))) {
      throw new BadRequestException('invalid device code');
    }
    if (poll === 'pending') throw new BadRequestException('authorization_pending');
    return this.issueFirst({ clientId, ...poll });
  }

  private refresh(clientId: string, parameters: Parameters): TokenReply {
    const application = this.applications.get(clientId);
    if (application.secret !== null)
      this.applications.checkSecret(clientId, readText(parameters, 'client_secret'));
    const token = readText(parameters, 'refresh_token');
    const isRefused = this.faults.take('refresh_fails');
    const used = isRefused ? undefined : this.tokens.refresh(token, application);
    if (used === undefined) throw new BadRequestException('Invalid refresh token');
    return this.issueUserToken(used.owner, used.next);
  }

  private issueFirst({ clientId, userId, scopes }: TokenOwner): TokenReply {
    const owner = { clientId, userId, scopes };
    const refreshToken = this.tokens.issueRefreshToken(owner, this.applications.get(clientId));
    return this.issueUserToken(owner, refreshToken);
  }

  private issueUserToken(owner: TokenOwner, refresh_token: string): TokenReply {
    const { token, expiresInSeconds } = this.tokens.issue(owner);
    const scope = [...owner.scopes];
    return { access_token: token, expires_in: expiresInSeconds, refresh_token, scope, token_type: 'bearer' };
  }
}
