import { Controller } from '@nestjs/common';
import { exportEvents, type ExportEventsReply, type ExportEventsRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { EventExportService } from './event-export.service.js';

@Controller()
export class EventExportController {
  constructor(private readonly exports: EventExportService) {}

  @Handles(exportEvents)
  async export(request: ExportEventsRequest): Promise<ExportEventsReply> {
    return this.exports.read(request);
  }
}
