import { Inject, Injectable } from '@nestjs/common';
import type { Conduit, Shard } from '../conduits/conduit.js';
import { ConduitsService } from '../conduits/conduits.service.js';
import { NotificationSender } from './notification-sender.service.js';

/** Tells applications when a shard is disabled (docs/platform-facts.md §3). */
@Injectable()
export class ConduitNotifications {
  constructor(
    @Inject(ConduitsService) conduits: ConduitsService,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {
    conduits.events.on('shardDisabled', (conduit, shard) => this.notify(conduit, shard));
  }

  private notify({ id, clientId }: Conduit, { id: shard_id, status, transport }: Shard): void {
    const missing = { callback: null, session_id: null, connected_at: null, disconnected_at: null };
    const event = { conduit_id: id, shard_id, status, transport: { ...missing, ...transport.view } };
    this.sender.notifyAll({ type: 'conduit.shard.disabled', event, clientId });
  }
}
