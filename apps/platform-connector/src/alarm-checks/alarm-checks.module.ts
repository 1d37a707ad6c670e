import { Module } from '@nestjs/common';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { ConnectionsModule } from '../connections/connections.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { ALARM_CHECKS, AlarmChecks, type AlarmCheck } from './alarm-checks.service.js';
import { ChannelSilence } from './channel-silence.service.js';
import { InstanceAlarms } from './instance-alarms.service.js';
import { SocketAlarms } from './socket-alarms.service.js';
import { SocketFaults } from './socket-faults.service.js';
import { SubscriptionAlarms } from './subscription-alarms.service.js';

/** A named class, because the log identifies a failed check by its class name. */
class AlarmExpiry implements AlarmCheck {
  constructor(private readonly alarms: AlarmsRepository) {}

  run(): Promise<void> {
    return this.alarms.expire();
  }

  stop(): void {
    // Nothing to stop: the check runs a single transaction, which ends by itself.
  }
}

/** Raises and clears the connector's own alarms. */
@Module({
  imports: [ConduitsModule, ConnectionsModule, PlatformModule, SocketsModule, SubscriptionsModule],
  providers: [
    {
      provide: ALARM_CHECKS,
      inject: [SocketAlarms, SubscriptionAlarms, ChannelSilence, AlarmsRepository],
      useFactory: (
        sockets: SocketAlarms,
        subscriptions: SubscriptionAlarms,
        silence: ChannelSilence,
        alarms: AlarmsRepository,
      ): AlarmCheck[] => [sockets, subscriptions, silence, new AlarmExpiry(alarms)],
    },
    AlarmChecks,
    ChannelSilence,
    InstanceAlarms,
    SocketAlarms,
    SocketFaults,
    SubscriptionAlarms,
  ],
})
export class AlarmChecksModule {}
