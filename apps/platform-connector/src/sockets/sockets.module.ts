import { Module } from '@nestjs/common';
import { DeliveryGapsRepository } from './delivery-gaps.repository.js';
import { DeliveryGaps } from './delivery-gaps.service.js';
import { SocketIngest } from './socket-ingest.service.js';
import { UserSessionsRepository } from './user-sessions.repository.js';

/** The parts that both socket transports share: storing messages, and recording gaps in delivery. */
@Module({
  providers: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
  exports: [DeliveryGaps, DeliveryGapsRepository, SocketIngest, UserSessionsRepository],
})
export class SocketsModule {}
