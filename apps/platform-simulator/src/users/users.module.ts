import { Module } from '@nestjs/common';
import { OAuthModule } from '../oauth/oauth.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { WorldModule } from '../world/world.module.js';
import { SimulatedUsersController } from './simulated-users.controller.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

/** Users of the platform. */
@Module({
  imports: [OAuthModule, SubscriptionsModule, WorldModule],
  controllers: [UsersController, SimulatedUsersController],
  providers: [UsersService],
  exports: [UsersService],
})
export class UsersModule {}
