import { BadRequestException, ForbiddenException, Inject, Injectable } from '@nestjs/common';
import { FaultsService } from '../behavior/faults.service.js';
import { Applications, type Application } from './applications.js';
import { ConsentsService } from './consents.service.js';
import { readText, type Parameters } from './parameters.js';
import { AccessTokens, RefreshTokens, type TokenOwner } from './tokens.js';

/** Response with a new access token (docs/platform-facts.md §4.1). */
export interface TokenReply {
  access_token: string;
  expires_in: number;
  token_type: 'bearer';
  /** Only for a user access token, like `scope`. */
  refresh_token?: string;
  scope?: readonly string[];
}

/** The grant type of device codes (docs/platform-facts.md §4.7). */
const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** Handles `POST /oauth2/token` for every grant type (docs/platform-facts.md §4.1, §4.7, §4.8). */
@Injectable()
export class TokenRequests {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(AccessTokens) private readonly tokens: AccessTokens,
    @Inject(RefreshTokens) private readonly refreshTokens: RefreshTokens,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(FaultsService) private readonly faults: FaultsService,
  ) {}

  answer(parameters: Parameters): TokenReply {
    const clientId = readText(parameters, 'client_id');
    switch (readText(parameters, 'grant_type')) {
      case 'client_credentials':
        this.checkSecret(clientId, readText(parameters, 'client_secret'));
        return this.issueAppToken(clientId);
      case 'authorization_code':
        this.checkSecret(clientId, readText(parameters, 'client_secret')); // the platform does not support PKCE
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
    const application = this.findApplication(clientId);
    if (application.secret !== null) this.checkSecret(clientId, readText(parameters, 'client_secret'));
    const token = readText(parameters, 'refresh_token');
    const isRefused = this.faults.take('refresh_fails');
    const used = isRefused ? undefined : this.refreshTokens.use(token, application);
    if (used === undefined) throw new BadRequestException('Invalid refresh token');
    return this.issueUserToken(used.owner, used.next);
  }

  private issueFirst({ clientId, userId, scopes }: TokenOwner): TokenReply {
    const owner = { clientId, userId, scopes };
    const refreshToken = this.refreshTokens.issue(owner, this.findApplication(clientId));
    return this.issueUserToken(owner, refreshToken);
  }

  private issueUserToken(owner: TokenOwner, refresh_token: string): TokenReply {
    const { token, expiresInSeconds } = this.tokens.issue(owner);
    const scope = [...owner.scopes];
    return { access_token: token, expires_in: expiresInSeconds, refresh_token, scope, token_type: 'bearer' };
  }

  private findApplication(clientId: string): Application {
    const application = this.applications.find(clientId);
    if (application === undefined) throw new BadRequestException('invalid client');
    return application;
  }

  private checkSecret(clientId: string, secret: string): void {
    const fault = this.applications.checkCredentials(clientId, secret);
    if (fault === 'unknown_client') throw new BadRequestException('invalid client');
    if (fault === 'wrong_secret') throw new ForbiddenException('invalid client secret');
  }
}
