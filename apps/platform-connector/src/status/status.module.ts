import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { PlatformStatus } from './platform-status.service.js';
import { StatusController } from './status.controller.js';

/** Status: what the connector knows about the platform and its subscriptions. */
@Module({
  imports: [PlatformModule, SubscriptionsModule],
  controllers: [StatusController],
  providers: [PlatformStatus],
})
export class StatusModule {}
