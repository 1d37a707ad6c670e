import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { ServiceError } from '@stream-events/contracts';
import { AllowAccess } from '../../access/allow-access.decorator.js';
import { CurrentUser, isOwner, type Caller } from '../../access/caller.js';
import { Accepts, Answers, badBody, RefusesWith } from '../../http/api-decorators.js';
import { JsonBody } from '../../http/json-body.decorator.js';
import { NamedConnections } from '../connections/named-connections.js';
import { LiveControlBody, LiveControlRecord } from './live-controls.dto.js';

// How long to wait for replies from the gateways. They reply without waiting for their clients, so replies normally arrive much sooner.
const replyLimitMs = 2_000;

@ApiTags('Live')
@Controller('api/v1/live-connections')
export class LiveControlsController {
  constructor(private readonly connections: NamedConnections) {}

  @Post(':name/controls')
  @AllowAccess('events:write')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'controlLiveConnection',
    summary: 'Send a control to live connections',
    description:
      'Sends a control to your live connections with this name, at all gateways. Only connections with the option `controls` receive ' +
      'the control. The client decides what a control does; for example, an overlay skips its alert. Controls are not stored.',
  })
  @ApiParam({
    name: 'name',
    description: 'The name of the connections, percent-encoded',
    schema: { type: 'string', example: 'alerts-overlay' },
  })
  @Accepts(LiveControlBody)
  @Answers(200, 'The control was sent', { type: LiveControlRecord })
  @RefusesWith({
    ...badBody,
    forbidden: 'The token lacks a scope, or `user` is another user and you are not an owner',
    not_found: 'No open connection with this name has the option `controls`',
  })
  async control(
    @Param('name') sentName: string,
    @JsonBody(LiveControlBody) { control, user }: LiveControlBody,
    @CurrentUser() caller: Caller,
  ): Promise<LiveControlRecord> {
    const userId = user?.toLowerCase() ?? caller.id;
    if (userId !== caller.id && !isOwner(caller))
      throw new ServiceError('forbidden', 'Only owners can control the connections of other users.');
    // Trim the name, because connection names are trimmed too.
    const name = sentName.trim();
    const connections = await this.connections.send(
      { target: { userId, name }, records: [], control },
      replyLimitMs,
    );
    if (connections > 0) return { connection: name, control, connections };
    throw new ServiceError(
      'not_found',
      `No open connection with the name ${name} accepts controls. Connect with the option \`controls\`.`,
    );
  }
}
