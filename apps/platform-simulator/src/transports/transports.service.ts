import { BadRequestException, Inject, Injectable } from '@nestjs/common';
import { FaultsService } from '../faults/faults.service.js';
import { PlatformLimits } from '../limits/platform-limits.js';
import { DeliveryCounts } from '../messages/delivery-counts.js';
import { DeliveryService } from '../messages/delivery.service.js';
import { SocketServer } from '../sockets/socket-server.service.js';
import { SocketTransport } from './socket.transport.js';
import { WebhookTransport, type Webhook } from './webhook.transport.js';

/** Creates direct transports (webhooks and sockets) for subscriptions and conduit shards. */
@Injectable()
export class Transports {
  constructor(
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
    @Inject(FaultsService) private readonly faults: FaultsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(SocketServer) private readonly sockets: SocketServer,
  ) {}

  /** @throws BadRequestException if the callback has a foreign origin */
  webhook({ callback, secret }: Webhook): WebhookTransport {
    this.delivery.checkCallback(callback);
    const { delivery, faults, limits } = this;
    return new WebhookTransport({ callback, secret }, { delivery, faults, limits });
  }

  /** @throws BadRequestException if the session does not exist, in the platform's wording (docs/platform-facts.md §2) */
  socket(sessionId: string): SocketTransport {
    const session = this.sockets.find(sessionId);
    if (!session) {
      throw new BadRequestException(`session ${sessionId} does not exist or has already disconnected`);
    }
    return new SocketTransport(session, this.counts);
  }
}
