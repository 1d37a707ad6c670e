import { Injectable } from '@nestjs/common';
import { typesForConduit } from '@stream-events/platforms';
import { UserPlatforms } from '../connections/user-platforms.service.js';
import { EventTypesService } from '../event-types/event-types.service.js';
import type { GrantsOf } from '../grants/consent.js';
import { UserGrants } from '../grants/user-grants.service.js';
import { OwnTransportsReader } from '../subscriptions/own-transports.js';
import { ConditionValuesReader } from './condition-values.service.js';
import { StreamerMonitorClient } from './streamer-monitor.client.js';
import { usersToAsk, wantedSubscriptions, type WantedSubscription } from './wanted-subscriptions.js';

export interface DesiredSubscriptions {
  /** How many streamers are monitored. */
  monitored: number;
  /** The wanted subscriptions by priority. Null when no transport is configured. */
  wanted: WantedSubscription[] | null;
}

/**
 * Determines which subscriptions should exist. For each active event type, these are the ones of the monitored streamers, or a single one
 * for the application. If the transport is a conduit and the conduit exists, one more subscription reports lost shards.
 */
@Injectable()
export class DesiredSubscriptionsService {
  constructor(
    private readonly streamerMonitor: StreamerMonitorClient,
    private readonly eventTypes: EventTypesService,
    private readonly grants: UserGrants,
    private readonly values: ConditionValuesReader,
    private readonly users: UserPlatforms,
    private readonly transports: OwnTransportsReader,
  ) {}

  /** @throws ServiceError when the streamer monitor does not reply */
  async read(signal: AbortSignal): Promise<DesiredSubscriptions> {
    const streamerIds = await this.streamerMonitor.listMonitoredIds(signal);
    const monitored = streamerIds.length;
    const transport = await this.transports.method();
    if (transport === null) return { monitored, wanted: null };
    const active = await this.eventTypes.active();
    const available = active.filter(
      (type) => transport !== 'websocket' || type.transports.includes(transport),
    );
    const values = await this.values.read(transport);
    const types = values.conduitId === undefined ? available : [...typesForConduit(), ...available];
    const grantsOf =
      transport === 'websocket'
        ? await this.scopesOfTokens()
        : await this.grants.read(usersToAsk(streamerIds, types, values), signal);
    const isChosen = await this.eventTypes.readChosen();
    return { monitored, wanted: wantedSubscriptions(streamerIds, types, { values, grantsOf, isChosen }) };
  }

  /**
   * Returns the scopes of the users' current tokens. Over plain sockets, only these scopes count, because each subscription uses a user's
   * token.
   */
  private async scopesOfTokens(): Promise<GrantsOf> {
    const scopes = new Map(
      (await this.users.connected()).map(({ userId, scopes }) => [userId, new Set(scopes)]),
    );
    return (userId) => scopes.get(userId) ?? new Set();
  }
}
