import { Module } from '@nestjs/common';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { StreamsModule } from '../streams/streams.module.js';
import { UsersModule } from '../users/users.module.js';
import { WorldModule } from '../world/world.module.js';
import { ScenarioPlayer } from './scenario-player.service.js';
import { ScenariosController } from './scenarios.controller.js';

/** Scenarios are scripted activity on the platform. */
@Module({
  imports: [NotificationsModule, StreamsModule, UsersModule, WorldModule],
  controllers: [ScenariosController],
  providers: [ScenarioPlayer],
  exports: [ScenarioPlayer],
})
export class ScenariosModule {}
