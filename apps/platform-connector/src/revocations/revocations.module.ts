import { Module } from '@nestjs/common';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { RevocationsConsumer } from './revocations.consumer.js';

/** Revocations: reads from the EVENTS stream which subscriptions the platform has revoked. */
@Module({
  imports: [SubscriptionsModule],
  providers: [RevocationsConsumer],
  exports: [RevocationsConsumer],
})
export class RevocationsModule {}
