import { Inject, Injectable } from '@nestjs/common';
import type { Conduit, Shard } from '../conduits/conduit.js';
import { ConduitsService } from '../conduits/conduits.service.js';
import { Grants, type Consent } from '../oauth/grants.js';
import { identify } from '../world/payloads/scene.js';
import { World } from '../world/world.js';
import { NotificationSender } from './notification-sender.service.js';

/** Tells applications when a user grants or revokes access (FACTS.md §5), and when a shard is disabled (§3). */
@Injectable()
export class AutomaticNotifications {
  constructor(
    @Inject(Grants) grants: Grants,
    @Inject(ConduitsService) conduits: ConduitsService,
    @Inject(World) private readonly world: World,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {
    grants.changes.on('granted', (consent) => this.onConsent('user.authorization.grant', consent));
    grants.changes.on('revoked', (consent) => this.onConsent('user.authorization.revoke', consent));
    conduits.events.on('shardDisabled', (conduit, shard) => this.onShardDisabled(conduit, shard));
  }

  /** If the user was removed, login and name are null. */
  private onConsent(type: string, { clientId, userId }: Consent): void {
    const user = identify('user', this.world.users.find(userId) ?? null);
    const event = { client_id: clientId, ...user, user_id: userId };
    this.sender.notifyAll({ type, event, clientId });
  }

  private onShardDisabled({ id, clientId }: Conduit, { id: shard_id, status, transport }: Shard): void {
    const missing = { callback: null, session_id: null, connected_at: null, disconnected_at: null };
    const event = { conduit_id: id, shard_id, status, transport: { ...missing, ...transport.view } };
    this.sender.notifyAll({ type: 'conduit.shard.disabled', event, clientId });
  }
}
