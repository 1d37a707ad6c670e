import { Controller } from '@nestjs/common';
import {
  completeConnection,
  getConnection,
  listConnections,
  removeConnection,
  startConnection,
  type AcceptedReply,
  type CompleteConnectionRequest,
  type ConnectionMessage,
  type ConnectionRequest,
  type EmptyRequest,
  type ListConnectionsReply,
  type StartConnectionRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ConnectionsService } from './connections.service.js';

@Controller()
export class ConnectionsController {
  constructor(private readonly connections: ConnectionsService) {}

  @Handles(listConnections)
  async list(_request: EmptyRequest): Promise<ListConnectionsReply> {
    return { connections: await this.connections.list() };
  }

  @Handles(getConnection)
  async get({ id }: ConnectionRequest): Promise<ConnectionMessage> {
    return this.connections.get(id);
  }

  @Handles(startConnection)
  async start(request: StartConnectionRequest): Promise<ConnectionMessage> {
    return this.connections.start(request);
  }

  @Handles(completeConnection)
  async complete(request: CompleteConnectionRequest): Promise<ConnectionMessage> {
    return this.connections.complete(request);
  }

  @Handles(removeConnection)
  async remove({ id }: ConnectionRequest): Promise<AcceptedReply> {
    await this.connections.remove(id);
    return {};
  }
}
