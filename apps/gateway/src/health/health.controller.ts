import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Health, LOGGER, Registry, type Logger } from '@stream-events/service';
import type { FastifyReply } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers } from '../http/api-decorators.js';

class Heartbeat {
  @ApiProperty({ description: 'Always `pong`', example: 'pong' })
  message!: string;
}

class Liveness {
  @ApiProperty({ description: 'Always `ok`', example: 'ok' })
  status!: string;
}

class Readiness {
  @ApiProperty({ description: '`ok` when every check is `ok`', enum: ['ok', 'error'], example: 'ok' })
  status!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: {
      type: 'object',
      properties: { status: { type: 'string', enum: ['ok', 'error'] } },
    },
    description: 'The status of each check, by check name',
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
  @ApiOperation({
    operationId: 'getHeartbeat',
    summary: 'Check that the API responds',
    description: 'Needs no token, and ignores any token in the request.',
  })
  @Answers(200, 'The API responds', { type: Heartbeat })
  heartbeat(): Heartbeat {
    return { message: 'pong' };
  }

  @Get('health/live')
  @AllowAccess('public')
  @ApiOperation({
    operationId: 'getLiveness',
    summary: 'Check that the process is running',
    description: 'Liveness probe: restart the process when this fails.',
  })
  @Answers(200, 'The process is running', { type: Liveness })
  live(): Liveness {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @AllowAccess('public')
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Check that the process can serve requests',
    description:
      'Readiness probe: route traffic here while this succeeds. Failure details are in the logs and on ADMIN_PORT.',
  })
  @Answers(200, 'Every check succeeds', { type: Readiness })
  @Answers(503, 'A check fails, or the process is shutting down', { type: Readiness })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const { status, checks } = await this.health.report();
    if (status !== 'ok') this.logger.warn({ checks }, 'readiness check failed');
    reply.code(status === 'ok' ? 200 : 503);
    // Omit the reason of a failure, because it can name hosts and users. The logs and the admin port show it.
    return {
      status,
      checks: Object.fromEntries(
        Object.entries(checks).map(([name, check]) => [name, { status: check.status }]),
      ),
    };
  }

  @Get('metrics')
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'Get metrics for Prometheus',
    description:
      'Owners only. When the services run as separate processes, each one serves its metrics on its ADMIN_PORT: see METRICS_TOKEN.',
  })
  @Answers(200, 'Metrics in the Prometheus text format', { example: 'events_published_total 27' })
  @AllowAccess('owner')
  async showMetrics(@Res() reply: FastifyReply): Promise<void> {
    await reply.type(this.metrics.contentType).send(await this.metrics.metrics());
  }
}
