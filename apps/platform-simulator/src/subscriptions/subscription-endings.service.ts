import { Inject, Injectable } from '@nestjs/common';
import { PlatformLimits } from '../behavior/platform-limits.js';
import type { Conduit } from '../conduits/conduit.js';
import { ConduitsService } from '../conduits/conduits.service.js';
import { Grants } from '../oauth/grants.js';
import { SocketServer } from '../transports/socket-server.service.js';
import type { SocketSession, SocketStatus } from '../transports/socket-session.js';
import { addressOf } from '../transports/transport.js';
import { SubscriptionsService } from './subscriptions.service.js';

// Time for which the subscriptions of a lost socket stay in the list, in seconds. The platform lists them for at least a minute
// (FACTS.md §1.6).
const listedFor = 60;

/** Ends subscriptions that have lost their consent, socket, or conduit. */
@Injectable()
export class SubscriptionEndings {
  constructor(
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(PlatformLimits) private readonly limits: PlatformLimits,
    @Inject(SocketServer) sockets: SocketServer,
    @Inject(Grants) grants: Grants,
    @Inject(ConduitsService) conduits: ConduitsService,
  ) {
    grants.changes.on('revoked', (consent) => this.subscriptions.revokeWithout(consent));
    sockets.events.on('ended', (session, status) => this.onSocketEnded(session, status));
    conduits.events.on('deleted', (conduit) => this.onConduitDeleted(conduit));
  }

  private onSocketEnded(session: SocketSession, status: SocketStatus): void {
    const { owner } = session;
    if (!owner) return;
    const lost = this.subscriptions.disable(
      owner,
      ({ view }) => addressOf(view.transport) === session.id,
      status,
    );
    const listedForMs = listedFor * this.limits.current.socket_second_ms;
    setTimeout(() => this.subscriptions.forget(lost), listedForMs).unref(); // unref: must not delay shutdown
  }

  private onConduitDeleted({ id, clientId }: Conduit): void {
    const owner = { clientId, userId: null };
    this.subscriptions.disable(owner, ({ view }) => addressOf(view.transport) === id, 'conduit_deleted');
  }
}
