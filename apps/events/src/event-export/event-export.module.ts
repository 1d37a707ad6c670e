import { Module } from '@nestjs/common';
import { EventListModule } from '../event-list/event-list.module.js';
import { EventExportController } from './event-export.controller.js';
import { EventExportService } from './event-export.service.js';

@Module({
  imports: [EventListModule],
  controllers: [EventExportController],
  providers: [EventExportService],
})
export class EventExportModule {}
