import { Module } from '@nestjs/common';
import { StreamsModule } from '../streams/streams.module.js';
import { ClaimsRepository } from './claims.repository.js';
import { PollRecorder } from './poll-recorder.service.js';
import { Poller } from './poller.service.js';
import { UsernameRefresh } from './username-refresh.service.js';

/** Asks the platform which streamers are live, and looks up their current usernames. */
@Module({
  imports: [StreamsModule],
  providers: [ClaimsRepository, Poller, PollRecorder, UsernameRefresh],
  exports: [Poller, UsernameRefresh],
})
export class PollingModule {}
