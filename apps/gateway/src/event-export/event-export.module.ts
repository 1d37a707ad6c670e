import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { UsersModule } from '../users/users.module.js';
import { EventExportController } from './event-export.controller.js';
import { EventExports } from './event-exports.service.js';

@Module({
  imports: [EventsModule, UsersModule],
  controllers: [EventExportController],
  providers: [EventExports],
  exports: [EventExports],
})
export class EventExportModule {}
