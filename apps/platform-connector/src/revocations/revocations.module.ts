import { Module } from '@nestjs/common';
import { ConnectionsModule } from '../connections/connections.module.js';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { RevocationsConsumer } from './revocations.consumer.js';

/** Learns from the EVENTS stream which subscriptions the platform has revoked. */
@Module({
  imports: [ConnectionsModule, SubscriptionsModule],
  providers: [RevocationsConsumer],
  exports: [RevocationsConsumer],
})
export class RevocationsModule {}
