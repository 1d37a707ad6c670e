import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { Answers } from '../http/api-decorators.js';
import { InstanceBoard } from './instance-board.js';
import { SystemRecord, toSystemRecord } from './system.dto.js';

@ApiTags('System')
@AllowAccess('owner')
@Controller('api/v1/system')
export class SystemController {
  constructor(private readonly board: InstanceBoard) {}

  @Get()
  @ApiOperation({
    operationId: 'getSystem',
    summary: 'Get the state of every instance and the live connections',
    description:
      'Owners only. Every instance reports itself to the gateways every 5 s; the response has the last reports, so it also works ' +
      'while other parts of the service are down. A gateway that has just started knows all instances after 5 s.',
  })
  @Answers(200, 'The state of the system', { type: SystemRecord })
  show(): SystemRecord {
    return toSystemRecord(this.board.read());
  }
}
