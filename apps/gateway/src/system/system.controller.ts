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
      'Owners only. Every instance reports itself to the gateways every 5 s; the response has the last reports, so it also works ' +
      'while other parts of the service are down. A gateway that has just started knows all instances after 5 s.',
  })
  @Answers(200, 'The state of the system', { type: SystemRecord })
  async show(@Req() request: FastifyRequest): Promise<SystemRecord> {
    return toSystemRecord(this.board.read(), await this.readAlarms(request.id));
  }

  /** Null when no platform connector replies: the rest of the state is then even more important. */
  private async readAlarms(correlationId: string): Promise<ListAlarmsReply | null> {
    try {
      return await this.client.request(listAlarms, {}, { correlationId });
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'unavailable') return null;
      throw error;
    }
  }
}
