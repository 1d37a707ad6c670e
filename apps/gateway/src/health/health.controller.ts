import { Controller, Get, Header, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Health, LOGGER, Registry, type Logger } from '@stream-events/service';
import type { FastifyReply } from 'fastify';
import { Answers, RefusesWith, RequiresToken } from '../http/api-decorators.js';
import { AllowAccess } from '../users/access.guard.js';

class Heartbeat {
  @ApiProperty({ description: 'Always `pong`', example: 'pong' })
  message!: string;
}

class Liveness {
  @ApiProperty({ description: 'Always `ok`', example: 'ok' })
  status!: string;
}

class Readiness {
  @ApiProperty({ description: 'ok when every check is', enum: ['ok', 'error'], example: 'ok' })
  status!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: {
      type: 'object',
      properties: { status: { type: 'string', enum: ['ok', 'error'] } },
    },
    description: 'Each part by name',
    example: { 'gateway database': { status: 'ok' }, 'gateway nats': { status: 'ok' } },
  })
  checks!: Record<string, { status: string }>;
}

@ApiTags('Health')
@Controller()
export class HealthController {
  constructor(
    private readonly health: Health,
    private readonly metrics: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  @Get('api/v1/heartbeat')
  @AllowAccess('public')
  @ApiOperation({ summary: 'Ask whether the API is there', description: 'A token, good or bad, is ignored.' })
  @Answers(200, 'It is', { type: Heartbeat })
  heartbeat(): Heartbeat {
    return { message: 'pong' };
  }

  @Get('health/live')
  @AllowAccess('public')
  @ApiOperation({
    summary: 'Ask whether the process lives',
    description: 'For restarting it when it does not answer.',
  })
  @Answers(200, 'It does', { type: Liveness })
  live(): Liveness {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @AllowAccess('public')
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Ask whether everything that this process needs works',
    description: 'For sending it requests. Why a check fails is in the logs and at ADMIN_PORT.',
  })
  @Answers(200, 'It does', { type: Readiness })
  @Answers(503, 'Something does not, or the process is shutting down', { type: Readiness })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const { status, checks } = await this.health.report();
    if (status !== 'ok') this.logger.warn({ checks }, 'not ready');
    reply.code(status === 'ok' ? 200 : 503);
    // Why a check fails may name hosts and users: that is for the logs and the admin port.
    return {
      status,
      checks: Object.fromEntries(
        Object.entries(checks).map(([name, check]) => [name, { status: check.status }]),
      ),
    };
  }

  @Get('metrics')
  @ApiOperation({
    summary: 'Metrics for Prometheus',
    description: 'Without a token at ADMIN_PORT, when services run apart.',
  })
  @Answers(200, 'Metrics in the Prometheus text format', { example: 'events_published_total 27' })
  @RequiresToken()
  @RefusesWith({ forbidden: 'The token is not an owner’s' })
  @AllowAccess('owner')
  async showMetrics(@Res() reply: FastifyReply): Promise<void> {
    await reply.type(this.metrics.contentType).send(await this.metrics.metrics());
  }
}
