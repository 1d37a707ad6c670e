import { Module } from '@nestjs/common';
import { DeliveryGapsRepository } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';
import { SocketIngest } from './socket-ingest.service.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

/** Stores messages, and records gaps in delivery, for both socket transports. */
@Module({
  providers: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
  exports: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
})
export class SocketsModule {}
