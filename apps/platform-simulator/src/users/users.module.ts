import { Module } from '@nestjs/common';
import { GrantsModule } from '../grants/grants.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { WorldModule } from '../world/world.module.js';
import { AuthorizedUsersController } from './authorized-users.controller.js';
import { SimulatedUsersController } from './simulated-users.controller.js';
import { UsersController } from './users.controller.js';
import { UsersService } from './users.service.js';

@Module({
  imports: [GrantsModule, OAuthModule, SubscriptionsModule, WorldModule],
  controllers: [UsersController, AuthorizedUsersController, SimulatedUsersController],
  providers: [UsersService],
  exports: [UsersService],
})
export class UsersModule {}
