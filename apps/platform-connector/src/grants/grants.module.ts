import { Module } from '@nestjs/common';
import { PlatformModule } from '../platform/platform.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { UserGrants } from './user-grants.service.js';
import { UserGrantsRepository } from './user-grants.repository.js';

/** Knows which scopes users have granted to the application. */
@Module({
  imports: [PlatformModule, SubscriptionsModule],
  providers: [UserGrants, UserGrantsRepository],
  exports: [UserGrants],
})
export class GrantsModule {}
