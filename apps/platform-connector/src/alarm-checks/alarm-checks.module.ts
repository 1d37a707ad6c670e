import { Module } from '@nestjs/common';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { PlatformModule } from '../platform/platform.module.js';
import { ALARM_CHECKS, AlarmChecks, type AlarmCheck } from './alarm-checks.service.js';
import { ChannelSilence } from './channel-silence.service.js';
import { InstanceAlarms } from './instance-alarms.service.js';
import { SubscriptionAlarms } from './subscription-alarms.service.js';

/** The checks that raise and clear the connector's own alarms. */
@Module({
  imports: [PlatformModule],
  providers: [
    {
      provide: ALARM_CHECKS,
      inject: [SubscriptionAlarms, ChannelSilence, AlarmsRepository],
      useFactory: (
        subscriptions: SubscriptionAlarms,
        silence: ChannelSilence,
        alarms: AlarmsRepository,
      ): AlarmCheck[] => [subscriptions, silence, { run: () => alarms.expire(), stop: () => undefined }],
    },
    AlarmChecks,
    ChannelSilence,
    InstanceAlarms,
    SubscriptionAlarms,
  ],
})
export class AlarmChecksModule {}
