import { Inject, Injectable } from '@nestjs/common';
import type { ConditionValues, TransportMethod } from '@stream-events/platforms';
import { ConduitsRepository } from '../conduits/conduits.repository.js';
import { ConnectionsRepository } from '../connections/connections.repository.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';

/** Reads what subscription conditions need in addition to the streamer's id. */
@Injectable()
export class ConditionValuesReader {
  constructor(
    private readonly conduits: ConduitsRepository,
    private readonly connections: ConnectionsRepository,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @param transport the wanted transport */
  async read(transport: TransportMethod): Promise<ConditionValues> {
    const clientId = this.settings.credentials?.clientId;
    if (clientId === undefined) return { clientId };
    const conduitId = transport === 'conduit' ? await this.conduits.findId(clientId) : null;
    // Over plain sockets, each channel's own token reads its chat, so no bot account is needed.
    const botId = transport === 'websocket' ? undefined : await this.connections.findBotId(clientId);
    return { clientId, conduitId: conduitId ?? undefined, botId };
  }
}
