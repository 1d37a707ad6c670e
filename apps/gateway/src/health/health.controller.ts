import { Controller, Get, Header, Res } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Health, Registry, type HealthReport } from '@stream-events/service';
import type { FastifyReply } from 'fastify';
import { Answers, RefusesWith, RequiresToken } from '../api-description/api-decorators.js';
import { AllowAccess } from '../users/access.guard.js';

class Heartbeat {
  @ApiProperty({ example: 'pong' })
  message!: string;
}

class Liveness {
  @ApiProperty({ example: 'ok' })
  status!: string;
}

class Readiness {
  @ApiProperty({ enum: ['ok', 'error'], example: 'ok' })
  status!: string;

  @ApiProperty({
    type: Object,
    additionalProperties: {
      type: 'object',
      properties: { status: { type: 'string' }, detail: { type: 'string' } },
    },
    example: { 'gateway database': { status: 'ok' }, 'gateway nats': { status: 'ok' } },
  })
  checks!: HealthReport['checks'];
}

@ApiTags('Health')
@Controller()
export class HealthController {
  constructor(
    private readonly health: Health,
    private readonly metrics: Registry,
  ) {}

  @Get('api/v1/heartbeat')
  @AllowAccess('public')
  @ApiOperation({ summary: 'Ask whether the API is there' })
  @Answers(200, 'It is', { type: Heartbeat })
  heartbeat(): Heartbeat {
    return { message: 'pong' };
  }

  @Get('health/live')
  @AllowAccess('public')
  @ApiOperation({ summary: 'Ask whether the process lives' })
  @Answers(200, 'It does', { type: Liveness })
  live(): Liveness {
    return { status: 'ok' };
  }

  @Get('health/ready')
  @AllowAccess('public')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Ask whether everything that this process needs works' })
  @Answers(200, 'It does', { type: Readiness })
  @Answers(503, 'Something does not, or the process is shutting down', { type: Readiness })
  async ready(@Res({ passthrough: true }) reply: FastifyReply): Promise<Readiness> {
    const report = await this.health.report();
    reply.code(report.status === 'ok' ? 200 : 503);
    return report;
  }

  @Get('metrics')
  @ApiOperation({
    summary: 'Metrics for Prometheus',
    description: 'Without a token at ADMIN_PORT, when services run apart.',
  })
  @Answers(200, 'Metrics in the Prometheus text format')
  @RequiresToken()
  @RefusesWith({ forbidden: 'The token is not an owner’s' })
  @AllowAccess('owner')
  async showMetrics(@Res() reply: FastifyReply): Promise<void> {
    await reply.type(this.metrics.contentType).send(await this.metrics.metrics());
  }
}
