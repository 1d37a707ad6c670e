import { BadRequestException, Inject, Injectable } from '@nestjs/common';
import { ConduitTransport } from '../conduits/conduit.js';
import { ConduitsService } from '../conduits/conduits.service.js';
import { DeliveryCounts } from '../transports/delivery.service.js';
import type { SocketSession } from '../transports/socket-session.js';
import type { Transport, TransportDto } from '../transports/transport.js';
import { Transports, type SocketTransport } from '../transports/transports.service.js';
import type { Condition } from '../world/payloads/scene.js';
import { channelOf, keyOfOwner, type Owner } from './subscription.js';

@Injectable()
export class SubscriptionTransports {
  /** Each socket belongs to the owner of its first subscription. */
  private readonly owners = new WeakMap<SocketSession, Owner>();

  constructor(
    @Inject(Transports) private readonly transports: Transports,
    @Inject(ConduitsService) private readonly conduits: ConduitsService,
    @Inject(DeliveryCounts) private readonly counts: DeliveryCounts,
  ) {}

  create(owner: Owner, requested: TransportDto, condition: Condition): Transport {
    switch (requested.method) {
      case 'webhook':
        return this.transports.webhook(requested);
      case 'websocket':
        return this.useSocket(owner, this.transports.socket(requested.session_id));
      case 'conduit': {
        const conduit = this.conduits.get(owner.clientId, requested.conduit_id);
        return new ConduitTransport(conduit, channelOf(condition) ?? '', this.counts);
      }
    }
  }

  ownerOf(session: SocketSession): Owner | undefined {
    return this.owners.get(session);
  }

  /** Rejects a second user, because a socket can serve only one user (docs/platform-facts.md §2). */
  private useSocket(owner: Owner, transport: SocketTransport): SocketTransport {
    const known = this.owners.get(transport.session) ?? owner;
    if (keyOfOwner(known) !== keyOfOwner(owner)) {
      throw new BadRequestException(
        'websocket transport cannot have subscriptions created by different users',
      );
    }
    this.owners.set(transport.session, known);
    return transport;
  }
}
