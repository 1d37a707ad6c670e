import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { StreamersController } from './streamers.controller.js';
import { StreamersService } from './streamers.service.js';
import { SubscriptionHint } from './subscription-hint.js';
import { UserLookUp } from './user-look-up.js';

/** Streamers: who is monitored. */
@Module({
  imports: [StreamsModule],
  controllers: [StreamersController],
  providers: [StreamersService, SubscriptionHint, UserLookUp],
})
export class StreamersModule {}
