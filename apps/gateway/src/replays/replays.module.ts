import { Module } from '@nestjs/common';
import { CONFIG, LOGGER, type Logger } from '@stream-events/service';
import { AuditLogModule } from '../audit-log/audit-log.module.js';
import { EventsModule } from '../events/events.module.js';
import type { GatewayConfig } from '../gateway.config.js';
import { LiveModule } from '../live/live.module.js';
import { EventReplayController } from './event-replay.controller.js';
import { ReplayChannel } from './replay-channel.js';
import { ReplayRunner } from './replay-runner.service.js';
import { ReplaysController } from './replays.controller.js';
import { ReplaysRepository } from './replays.repository.js';

@Module({
  imports: [AuditLogModule, EventsModule, LiveModule],
  controllers: [EventReplayController, ReplaysController],
  providers: [
    {
      provide: ReplayChannel,
      inject: [CONFIG, LOGGER],
      useFactory: ({ NATS_URL }: GatewayConfig, logger: Logger) =>
        new ReplayChannel({ urls: NATS_URL, name: 'gateway-replays' }, logger),
    },
    ReplayRunner,
    ReplaysRepository,
  ],
})
export class ReplaysModule {}
