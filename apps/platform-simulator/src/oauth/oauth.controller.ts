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
  Req,
  UnauthorizedException,
  UseInterceptors,
} from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { FastifyRequest } from 'fastify';
import { FaultsService } from '../behavior/faults.service.js';
import { PlatformLimits } from '../behavior/platform-limits.js';
import { QueryAsBody } from '../http/request-parameters.js';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { World } from '../world/world.js';
import { Applications } from './applications.js';
import { ConsentsService } from './consents.service.js';
import { readOptional, readScopes, readText, type Parameters } from './parameters.js';
import { readBearer, Tokens } from './tokens.js';

@Controller('oauth2/device')
export class DeviceController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(CONFIG) private readonly config: SimulatorConfig,
  ) {}

  /** Ignores scopes in the query, as the platform does (FACTS.md §4.7). */
  @Post()
  @HttpCode(200)
  issue(@Body() form: Parameters | undefined, @Req() { socket }: FastifyRequest): Record<string, unknown> {
    const parameters = form ?? {};
    const clientId = readText(parameters, 'client_id');
    this.applications.get(clientId);
    const scopes = readScopes(readOptional(parameters, 'scopes'));
    const { deviceCode, userCode } = this.consents.startDevice(clientId, scopes);
    const { device_code_seconds, device_interval_seconds } = this.limits.current;
    return {
      device_code: deviceCode,
      expires_in: device_code_seconds,
      interval: device_interval_seconds,
      user_code: userCode,
      verification_uri: `${this.addressForBrowsers(socket.localPort)}/activate?public=true&device-code=${userCode}`,
    };
  }

  /**
   * The address that users open in a browser. Ignores the request's `Host`: a service may use a host name that the browser cannot resolve.
   */
  private addressForBrowsers(port: number | undefined): string {
    const { HOST } = this.config;
    const isWildcard = ['0.0.0.0', '::'].includes(HOST);
    const host = isWildcard ? 'localhost' : HOST.includes(':') ? `[${HOST}]` : HOST;
    return `http://${host}:${port}`;
  }
}

@Controller('oauth2')
export class OAuthController {
  constructor(
    @Inject(Tokens) private readonly tokens: Tokens,
    @Inject(Applications) private readonly applications: Applications,
    @Inject(World) private readonly world: World,
    @Inject(FaultsService) private readonly faults: FaultsService,
  ) {}

  /** `login` and `user_id` are present only for a user's token (FACTS.md §4.1). */
  @Get('validate')
  validate(@Headers('authorization') authorization?: string): Record<string, unknown> {
    const token = readBearer(authorization);
    const found = token === undefined ? undefined : this.tokens.find(token);
    if (!found || this.faults.take('validate_fails')) throw new UnauthorizedException('invalid access token');
    const { clientId, userId, scopes, expiresAtMs } = found;
    const expires_in = Math.floor((expiresAtMs - Date.now()) / 1_000);
    if (userId === null) return { client_id: clientId, scopes: null, expires_in };
    const { login = '' } = this.world.users.find(userId) ?? {};
    return { client_id: clientId, login, scopes, user_id: userId, expires_in };
  }

  /** Revokes only the access token (FACTS.md §4.1). The refresh token that was issued with it stays valid. */
  @Post('revoke')
  @HttpCode(200)
  @UseInterceptors(QueryAsBody)
  revoke(@Body() parameters: Parameters): void {
    const clientId = readText(parameters, 'client_id');
    const token = readText(parameters, 'token');
    if (!this.applications.isKnown(clientId)) throw new NotFoundException('client does not exist');
    if (!this.tokens.revoke(token, clientId)) throw new BadRequestException('Invalid token');
  }
}
