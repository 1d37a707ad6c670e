import { Controller } from '@nestjs/common';
import {
  completeConnection,
  getConnection,
  listChannelConsent,
  listConnections,
  removeConnection,
  startConnection,
  type AcceptedReply,
  type CompleteConnectionRequest,
  type ConnectionMessage,
  type ConnectionRequest,
  type EmptyRequest,
  type ListChannelConsentReply,
  type ListChannelConsentRequest,
  type ListConnectionsReply,
  type StartConnectionRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ChannelConsent } from './channel-consent.service.js';
import { ConnectionsService } from './connections.service.js';

@Controller()
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly consent: ChannelConsent,
  ) {}

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

  @Handles(listChannelConsent)
  async listChannelConsent({ channelIds }: ListChannelConsentRequest): Promise<ListChannelConsentReply> {
    return { channels: await this.consent.list(channelIds) };
  }

  @Handles(removeConnection)
  async remove({ id }: ConnectionRequest): Promise<AcceptedReply> {
    await this.connections.remove(id);
    return {};
  }
}
