import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentUser, type Caller } from '../access/caller.js';
import { Answers } from '../http/api-decorators.js';
import { InstanceBoard } from './instance-board.js';
import { LiveConnectionRecord, toLiveConnections } from './system.dto.js';

@ApiTags('Live')
@Controller('api/v1/live-connections')
export class LiveConnectionsController {
  constructor(private readonly board: InstanceBoard) {}

  @Get()
  @AllowAccess('events:write')
  @ApiOperation({
    operationId: 'listLiveConnections',
    summary: 'List your live connections',
    description:
      'Lists your open live connections at all gateways, sorted by name. Gateways report their connections every 5 s. A gateway ' +
      'with very many connections reports only the connections that are furthest behind.',
  })
  @Answers(200, 'The connections', { type: LiveConnectionRecord, isArray: true })
  list(@CurrentUser() caller: Caller): LiveConnectionRecord[] {
    return toLiveConnections(this.board.read(), caller.username);
  }
}
