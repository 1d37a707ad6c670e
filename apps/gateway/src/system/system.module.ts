import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { EventDeliveryController } from './event-delivery.controller.js';
import { InstanceBoard } from './instance-board.js';
import { LiveConnectionsController } from './live-connections.controller.js';
import { SystemController } from './system.controller.js';

@Module({
  imports: [EventsModule],
  controllers: [SystemController, LiveConnectionsController, EventDeliveryController],
  providers: [InstanceBoard],
  exports: [InstanceBoard],
})
export class SystemModule {}
