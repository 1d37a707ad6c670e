import { Module } from '@nestjs/common';
import { FaultsModule } from '../faults/faults.module.js';
import { MessagesModule } from '../messages/messages.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { WorldModule } from '../world/world.module.js';
import { SimulatorController } from './simulator.controller.js';

@Module({
  imports: [FaultsModule, MessagesModule, NotificationsModule, WorldModule],
  controllers: [SimulatorController],
})
export class SimulatorModule {}
