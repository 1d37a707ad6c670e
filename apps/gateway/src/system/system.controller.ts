import { Controller, Get, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { listAlarms, ServiceError, type ListAlarmsReply } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers } from '../http/api-decorators.js';
import { InstanceBoard } from './instance-board.js';
import { SystemRecord, toSystemRecord } from './system.dto.js';

@ApiTags('System')
@AllowAccess('owner')
@Controller('api/v1/system')
export class SystemController {
  constructor(
    private readonly board: InstanceBoard,
    private readonly client: RequestClient,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getSystem',
    summary: 'Get the state of every instance, the live connections, and the alarms',
    description:
      'Owners only. Every instance reports its state to the gateways every 5 s. The response contains the last reports, so this ' +
      'request works even while other parts of the service are down. A gateway knows all instances 5 s after it starts.',
  })
  @Answers(200, 'The state of the system', { type: SystemRecord })
  async show(@Req() request: FastifyRequest): Promise<SystemRecord> {
    return toSystemRecord(this.board.read(), await this.readAlarms(request.id));
  }

  /** Returns null if no platform connector replies. The rest of the system state is still useful. */
  private async readAlarms(correlationId: string): Promise<ListAlarmsReply | null> {
    try {
      return await this.client.request(listAlarms, {}, { correlationId });
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') return null;
      throw error;
    }
  }
}
