import { Module } from '@nestjs/common';
import { ConduitsModule } from '../conduits/conduits.module.js';
import { PlatformModule } from '../platform/platform.module.js';
import { SocketsModule } from '../sockets/sockets.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { PlatformStatusService } from './platform-status.service.js';
import { StatusController } from './status.controller.js';

/** Reports the connector's view of the platform and of its subscriptions. */
@Module({
  imports: [ConduitsModule, PlatformModule, SocketsModule, SubscriptionsModule],
  controllers: [StatusController],
  providers: [PlatformStatusService],
})
export class StatusModule {}
