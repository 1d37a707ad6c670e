import { Injectable } from '@nestjs/common';
import {
  connectorStoredUsers,
  gatewayStoredUsers,
  maxStoredUsersPage,
  type ErasedKind,
  type StoredUserContracts,
} from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { ErasureStep, SoughtUser, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/** Erases what another service stores about the user outside of events. */
@Injectable()
abstract class StoredUsersStage implements Stage {
  abstract readonly name: Stage['name'];
  protected abstract readonly contracts: StoredUserContracts;

  constructor(private readonly client: RequestClient) {}

  async run({ counts, isDryRun }: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    const platformUserId = user.id ?? (await this.findUser(user));
    if (platformUserId === undefined) return { isComplete: true };
    const reply = await this.client.request(this.contracts.erase, { platformUserId, isDryRun });
    const totals: [ErasedKind, number][] = [
      ['pictures', reply.pictures],
      ['replays', reply.replays],
      ['rehearsals', reply.rehearsals],
    ];
    const found = totals.filter(([, total]) => total > 0);
    const erased = Object.fromEntries(found.map(([kind, total]) => [kind, { total, fields: {} }]));
    return { isComplete: true, counts: { ...counts, ...erased } };
  }

  /** Searches the service's users, because only the hash of the user's id is known. */
  private async findUser(user: SoughtUser): Promise<string | undefined> {
    let after: string | undefined;
    for (;;) {
      const { ids } = await this.client.request(this.contracts.list, after === undefined ? {} : { after });
      const found = ids.find((id) => user.isUser(id));
      if (found !== undefined || ids.length < maxStoredUsersPage) return found;
      after = ids.at(-1);
    }
  }
}

/** Erases the user's picture. */
@Injectable()
export class ConnectorStage extends StoredUsersStage {
  readonly name = 'connector';
  protected readonly contracts = connectorStoredUsers;
}

/** Erases the replays and rehearsals whose filters contain the user's id. */
@Injectable()
export class GatewayStage extends StoredUsersStage {
  readonly name = 'gateway';
  protected readonly contracts = gatewayStoredUsers;
}
