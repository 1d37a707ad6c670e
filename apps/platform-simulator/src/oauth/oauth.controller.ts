import {
  BadRequestException,
  Body,
  Controller,
  ForbiddenException,
  Get,
  Headers,
  HttpCode,
  Inject,
  NotFoundException,
  Post,
  Query,
  UnauthorizedException,
} from '@nestjs/common';
import { AccessTokens } from './access-tokens.js';

/** Response with a new access token (docs/platform-facts.md §4.1). */
interface TokenReply {
  access_token: string;
  expires_in: number;
  token_type: 'bearer';
}

/** Response to the validation of an app access token. */
interface ValidationReply {
  client_id: string;
  scopes: null;
  expires_in: number;
}

/** Form parameters; the platform also accepts them in the query. */
type Parameters = Record<string, unknown>;

/** The platform's OAuth 2 endpoints for app access tokens. */
@Controller('oauth2')
export class OAuthController {
  constructor(@Inject(AccessTokens) private readonly tokens: AccessTokens) {}

  @Post('token')
  @HttpCode(200)
  issue(@Body() form: Parameters | undefined, @Query() query: Parameters): TokenReply {
    const parameters = { ...query, ...form };
    const clientId = readText(parameters, 'client_id');
    const secret = readText(parameters, 'client_secret');
    if (readText(parameters, 'grant_type') !== 'client_credentials') {
      throw new BadRequestException('invalid grant type: the simulator supports only client_credentials');
    }
    const fault = this.tokens.checkCredentials(clientId, secret);
    if (fault === 'unknown_client') throw new BadRequestException('invalid client');
    if (fault === 'wrong_secret') throw new ForbiddenException('invalid client secret');
    const { token, expiresInSeconds } = this.tokens.issue(clientId, Date.now());
    return { access_token: token, expires_in: expiresInSeconds, token_type: 'bearer' };
  }

  @Get('validate')
  validate(@Headers('authorization') authorization?: string): ValidationReply {
    const token = /^(?:OAuth|Bearer) +(\S+)$/i.exec(authorization ?? '')?.[1];
    const now = Date.now();
    const found = token === undefined ? undefined : this.tokens.find(token, now);
    if (!found) throw new UnauthorizedException('invalid access token');
    const { clientId, expiresAtMs } = found;
    return { client_id: clientId, scopes: null, expires_in: Math.floor((expiresAtMs - now) / 1_000) };
  }

  @Post('revoke')
  @HttpCode(200)
  revoke(@Body() form: Parameters | undefined, @Query() query: Parameters): void {
    const parameters = { ...query, ...form };
    const clientId = readText(parameters, 'client_id');
    const token = readText(parameters, 'token');
    if (!this.tokens.isKnownClient(clientId)) throw new NotFoundException('client does not exist');
    if (!this.tokens.revoke(token, clientId)) throw new BadRequestException('Invalid token');
  }
}

function readText(parameters: Parameters, name: string): string {
  const value = parameters[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new BadRequestException(`missing ${name.replace('_', ' ')}`);
}
