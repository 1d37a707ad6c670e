import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { StreamersController } from './streamers.controller.js';
import { StreamersService } from './streamers.service.js';
import { SubscriptionHint } from './subscription-hint.js';
import { UserLookUp } from './user-look-up.js';

/** Adds, lists, changes, and deletes monitored streamers. */
@Module({
  imports: [StreamsModule],
  controllers: [StreamersController],
  providers: [StreamersService, SubscriptionHint, UserLookUp],
})
export class StreamersModule {}
