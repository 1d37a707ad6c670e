import { Module } from '@nestjs/common';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { WorldModule } from '../world/world.module.js';
import { SimulatedStreamsController } from './simulated-streams.controller.js';
import { StreamsController } from './streams.controller.js';
import { StreamsService } from './streams.service.js';

@Module({
  imports: [NotificationsModule, OAuthModule, WorldModule],
  controllers: [StreamsController, SimulatedStreamsController],
  providers: [StreamsService],
  exports: [StreamsService],
})
export class StreamsModule {}
