import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module.js';
import { EventsModule } from '../events/events.module.js';
import { EventExportController } from './event-export.controller.js';
import { EventExports } from './event-exports.service.js';

@Module({
  imports: [AccessModule, EventsModule],
  controllers: [EventExportController],
  providers: [EventExports],
  exports: [EventExports],
})
export class EventExportModule {}
