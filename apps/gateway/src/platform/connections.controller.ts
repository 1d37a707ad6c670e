import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  getConnection,
  listConnections,
  removeConnection,
  startConnection,
  type ConnectionMessage,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AllowAccess } from '../access/allow-access.decorator.js';
import { CurrentActor, CurrentUser, isOwner, type Actor, type Caller } from '../access/caller.js';
import { AuditLog } from '../audit-log/audit-log.service.js';
import { Answers, badBody, DescribesId, MayAccept, RefusesWith } from '../http/api-decorators.js';
import { Id } from '../http/id.decorator.js';
import { OptionalJsonBody } from '../http/json-body.decorator.js';
import { ConnectionBody, ConnectionRecord, toConnectionRecord } from './connections.dto.js';

const missing = { not_found: 'The connection does not exist' };

@ApiTags('Platform')
@Controller('api/v1/platform/connections')
export class ConnectionsController {
  constructor(
    private readonly client: RequestClient,
    private readonly audit: AuditLog,
  ) {}

  @Get()
  @AllowAccess('platform:read')
  @ApiOperation({
    operationId: 'listConnections',
    summary: 'List the connections to channels and to the bot account',
    description:
      'Lists the users who have given consent or are asked for consent, oldest first. The response contains no tokens.',
  })
  @Answers(200, 'The connections', { type: ConnectionRecord, isArray: true })
  async list(@CurrentUser() caller: Caller, @Req() request: FastifyRequest): Promise<ConnectionRecord[]> {
    const { connections } = await this.client.request(listConnections, {}, { correlationId: request.id });
    return connections.map((connection) => recordFor(caller, connection));
  }

  @Post()
  @AllowAccess('owner')
  @ApiOperation({
    operationId: 'createConnection',
    summary: 'Connect a channel or a bot account',
    description:
      'Owners only. The user opens `verification_uri`, enters `user_code` if there is one, and gives consent to `scopes`. These ' +
      'are the scopes that the service needs (for a channel, the scopes of the active event types) and the scopes in the body. For ' +
      'a channel, the service then monitors the channel and subscribes to its events. Poll `Location` until the state is ' +
      '`connected`. The body is optional. To change the scopes of a connected user, connect the user again.',
  })
  @MayAccept(ConnectionBody)
  @Answers(201, 'The connection, with the page that the user must open', {
    type: ConnectionRecord,
    location: true,
  })
  @RefusesWith({
    ...badBody,
    conflict: 'Too many connections are already waiting for consent, or the flow needs `PUBLIC_URL`',
    unavailable: 'The platform is unavailable, or no platform application is configured',
  })
  async create(
    @OptionalJsonBody(ConnectionBody) body: ConnectionBody,
    @CurrentActor() by: Actor,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConnectionRecord> {
    const order = { ...body, ...(by.id !== null && { startedBy: by.id }) };
    const connection = await this.audit.recordReply(
      this.client.request(startConnection, order, { correlationId: request.id }),
      (started) => ({ action: 'connection.started', by, objectId: started?.id ?? null }),
    );
    reply.header('Location', `/api/v1/platform/connections/${connection.id}`);
    return toConnectionRecord(connection);
  }

  @Get(':id')
  @AllowAccess('platform:read')
  @ApiOperation({ operationId: 'getConnection', summary: 'Get a connection' })
  @DescribesId('The id of the connection')
  @Answers(200, 'The connection', { type: ConnectionRecord })
  @RefusesWith(missing)
  async show(
    @Id() id: string,
    @CurrentUser() caller: Caller,
    @Req() request: FastifyRequest,
  ): Promise<ConnectionRecord> {
    return recordFor(caller, await this.client.request(getConnection, { id }, { correlationId: request.id }));
  }

  @Delete(':id')
  @AllowAccess('owner')
  @HttpCode(204)
  @ApiOperation({
    operationId: 'deleteConnection',
    summary: 'Disconnect a channel or the bot account',
    description:
      'Owners only. Deletes the tokens of the connection and revokes them on the platform. A channel stays monitored until you ' +
      'delete its streamer. Only the user can withdraw the consent itself, on the platform.',
  })
  @DescribesId('The id of the connection')
  @Answers(204, 'Deleted')
  @RefusesWith(missing)
  async delete(@Id() id: string, @CurrentActor() by: Actor, @Req() request: FastifyRequest): Promise<void> {
    await this.audit.recordReply(
      this.client.request(removeConnection, { id }, { correlationId: request.id }),
      () => ({ action: 'connection.removed', by, objectId: id }),
    );
  }
}

/** Hides the code and the page from callers without an owner's rights: the first person who enters the code connects their own account. */
function recordFor(caller: Caller, connection: ConnectionMessage): ConnectionRecord {
  const record = toConnectionRecord(connection);
  return isOwner(caller) ? record : { ...record, user_code: null, verification_uri: null };
}
