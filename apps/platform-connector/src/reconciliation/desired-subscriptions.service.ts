import { Inject, Injectable } from '@nestjs/common';
import { EventTypesService } from '../event-types/event-types.service.js';
import { PLATFORM_SETTINGS, type PlatformSettings } from '../platform/platform-settings.js';
import { StreamerMonitorClient } from './streamer-monitor.client.js';
import { wantedSubscriptions, type WantedSubscription } from './wanted-subscriptions.js';

/** What should be. */
export interface DesiredSubscriptions {
  /** How many streamers are monitored. */
  monitored: number;
  /** Most wanted first; null when the platform cannot be told where to send anything. */
  wanted: WantedSubscription[] | null;
}

/** Says which subscriptions should be: monitored streamers × active event types. */
@Injectable()
export class DesiredSubscriptionsService {
  constructor(
    private readonly streamerMonitor: StreamerMonitorClient,
    private readonly eventTypes: EventTypesService,
    @Inject(PLATFORM_SETTINGS) private readonly settings: PlatformSettings,
  ) {}

  /** @throws ServiceError when the streamer monitor does not answer */
  async read(signal: AbortSignal): Promise<DesiredSubscriptions> {
    const streamerIds = await this.streamerMonitor.listMonitoredIds(signal);
    const monitored = streamerIds.length;
    const { webhook, credentials } = this.settings;
    if (webhook === null) return { monitored, wanted: null };
    const types = await this.eventTypes.active();
    return {
      monitored,
      wanted: wantedSubscriptions(streamerIds, types, { clientId: credentials?.clientId }),
    };
  }
}
