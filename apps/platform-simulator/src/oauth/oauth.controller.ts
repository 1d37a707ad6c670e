import {
  BadRequestException,
  Body,
  Controller,
  Get,
  Headers,
  HttpCode,
  Inject,
  NotFoundException,
  Post,
  Query,
  UnauthorizedException,
} from '@nestjs/common';
import { FaultsService } from '../faults/faults.service.js';
import { World } from '../world/world.js';
import { AccessTokens, readBearer } from './access-tokens.js';
import { Applications } from './applications.js';
import { readText, type Parameters } from './parameters.js';

/** Response of the validation endpoint. `login` and `user_id` are present only for a user's token (docs/platform-facts.md §4.1). */
interface ValidationReply {
  client_id: string;
  login?: string;
  scopes: readonly string[] | null;
  user_id?: string;
  expires_in: number;
}

@Controller('oauth2')
export class OAuthController {
  constructor(
    @Inject(AccessTokens) private readonly tokens: AccessTokens,
    @Inject(Applications) private readonly applications: Applications,
    @Inject(World) private readonly world: World,
    @Inject(FaultsService) private readonly faults: FaultsService,
  ) {}

  @Get('validate')
  validate(@Headers('authorization') authorization?: string): ValidationReply {
    const token = readBearer(authorization);
    const now = Date.now();
    const found = token === undefined ? undefined : this.tokens.find(token, now);
    if (!found || this.faults.take('validate_fails')) throw new UnauthorizedException('invalid access token');
    const { clientId, userId, scopes, expiresAtMs } = found;
    const expires_in = Math.floor((expiresAtMs - now) / 1_000);
    if (userId === null) return { client_id: clientId, scopes: null, expires_in };
    const { login = '' } = this.world.users.find(userId) ?? {};
    return { client_id: clientId, login, scopes, user_id: userId, expires_in };
  }

  /** Revokes only the access token (docs/platform-facts.md §4.1). The refresh token that was issued with it stays valid. */
  @Post('revoke')
  @HttpCode(200)
  revoke(@Body() form: Parameters | undefined, @Query() query: Parameters): void {
    const parameters = { ...query, ...form };
    const clientId = readText(parameters, 'client_id');
    const token = readText(parameters, 'token');
    if (!this.applications.isKnown(clientId)) throw new NotFoundException('client does not exist');
    if (!this.tokens.revoke(token, clientId)) throw new BadRequestException('Invalid token');
  }
}
