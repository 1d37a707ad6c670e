import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { AlarmChecks } from './alarm-checks.service.js';
import { InstanceAlarms } from './instance-alarms.service.js';
import { SubscriptionAlarms } from './subscription-alarms.service.js';

/** The checks that raise and clear the connector's own alarms. */
@Module({ imports: [PlatformModule], providers: [AlarmChecks, InstanceAlarms, SubscriptionAlarms] })
export class AlarmChecksModule {}
