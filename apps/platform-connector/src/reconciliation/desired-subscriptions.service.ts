import { Inject, Injectable } from '@nestjs/common';
import { EventTypesService } from '../event-types/event-types.service.js';
import { UserGrants } from '../grants/user-grants.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { StreamerMonitorClient } from './streamer-monitor.client.js';
import { usersToAsk, wantedSubscriptions, type WantedSubscription } from './wanted-subscriptions.js';

/** The subscriptions that should exist. */
export interface DesiredSubscriptions {
  /** The number of monitored streamers. */
  monitored: number;
  /** By priority; null when no transport is configured. */
  wanted: WantedSubscription[] | null;
}

/** Determines which subscriptions should exist: monitored streamers × active event types. */
@Injectable()
export class DesiredSubscriptionsService {
  constructor(
    private readonly streamerMonitor: StreamerMonitorClient,
    private readonly eventTypes: EventTypesService,
    private readonly grants: UserGrants,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError when the streamer monitor does not reply */
  async read(signal: AbortSignal): Promise<DesiredSubscriptions> {
    const streamerIds = await this.streamerMonitor.listMonitoredIds(signal);
    const monitored = streamerIds.length;
    const { transport, credentials } = this.settings;
    if (transport === null) return { monitored, wanted: null };
    const types = await this.eventTypes.active();
    const grantsOf = await this.grants.read(usersToAsk(streamerIds, types), signal);
    const values = { clientId: credentials?.clientId };
    return { monitored, wanted: wantedSubscriptions(streamerIds, types, { values, grantsOf }) };
  }
}
