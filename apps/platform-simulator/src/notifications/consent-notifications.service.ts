import { Inject, Injectable } from '@nestjs/common';
import { Grants, type Consent } from '../grants/grants.js';
import { identify } from '../world/payloads/scene.js';
import { World } from '../world/world.js';
import { NotificationSender } from './notification-sender.service.js';

/** Tells applications when a user grants or revokes access (docs/platform-facts.md §5). */
@Injectable()
export class ConsentNotifications {
  constructor(
    @Inject(Grants) grants: Grants,
    @Inject(World) private readonly world: World,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
  ) {
    grants.changes.on('granted', (consent) => this.notify('user.authorization.grant', consent));
    grants.changes.on('revoked', (consent) => this.notify('user.authorization.revoke', consent));
  }

  /** If the user was removed, login and name are null. */
  private notify(type: string, { clientId, userId }: Consent): void {
    const user = identify('user', this.world.users.find(userId) ?? null);
    const event = { client_id: clientId, ...user, user_id: userId };
    this.sender.notifyAll({ type, event, clientId });
  }
}
