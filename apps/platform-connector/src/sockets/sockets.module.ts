import { Module } from '@nestjs/common';
import { DeliveryGapsRepository } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';
import { SocketIngest } from './socket-ingest.service.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

/** What the transports over sockets share: how messages are stored, and the record of what may be missing. */
@Module({
  providers: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
  exports: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
})
export class SocketsModule {}
