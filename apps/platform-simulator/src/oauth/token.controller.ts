import { BadRequestException, Body, Controller, HttpCode, Inject, Post, Query, Req } from '@nestjs/common';
import { CONFIG } from '@stream-events/service';
import type { FastifyRequest } from 'fastify';
import { ApiFaultsService } from '../faults/api-faults.service.js';
import { FaultsService } from '../faults/faults.service.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import type { SimulatorConfig } from '../platform-simulator.config.js';
import { Applications } from './applications.js';
import { ConsentsService } from './consents.service.js';
import { readOptional, readScopes, readText, type Parameters } from './parameters.js';
import { TokenRequests, type TokenReply } from './token-requests.service.js';

/** Response with a new device code (docs/platform-facts.md §4.7). */
interface DeviceReply {
  device_code: string;
  expires_in: number;
  interval: number;
  user_code: string;
  verification_uri: string;
}

/** Accepts parameters in the body and in the query, like the platform (docs/platform-facts.md §4.1). */
@Controller('oauth2/token')
export class TokenController {
  constructor(
    @Inject(TokenRequests) private readonly requests: TokenRequests,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(ApiFaultsService) private readonly apiFaults: ApiFaultsService,
  ) {}

  @Post()
  @HttpCode(200)
  issue(
    @Body() form: Parameters | undefined,
    @Query() query: Parameters,
    @Req() request: FastifyRequest,
  ): TokenReply {
    const parameters = { ...query, ...form };
    const reply = this.requests.answer(parameters);
    const isRefresh = readOptional(parameters, 'grant_type') === 'refresh_token';
    // The refresh succeeds, but the client never gets the response (docs/platform-facts.md §4.8).
    if (isRefresh && this.faults.take('refresh_replies_lost')) this.apiFaults.loseReply(request);
    return reply;
  }
}

@Controller('oauth2/device')
export class DeviceController {
  constructor(
    @Inject(Applications) private readonly applications: Applications,
    @Inject(ConsentsService) private readonly consents: ConsentsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(CONFIG) private readonly config: SimulatorConfig,
  ) {}

  /** Ignores scopes in the query, as the platform does (docs/platform-facts.md §4.7). */
  @Post()
  @HttpCode(200)
  issue(@Body() form: Parameters | undefined, @Req() { socket }: FastifyRequest): DeviceReply {
    const parameters = form ?? {};
    const clientId = readText(parameters, 'client_id');
    if (!this.applications.find(clientId)) throw new BadRequestException('invalid client');
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
