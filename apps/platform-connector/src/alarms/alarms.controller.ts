import { Controller } from '@nestjs/common';
import {
  listAlarms,
  reportAlarms,
  type EmptyRequest,
  type ListAlarmsReply,
  type ReportAlarmsReply,
  type ReportAlarmsRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { AlarmsRepository } from './alarms.repository.js';

@Controller()
export class AlarmsController {
  constructor(private readonly alarms: AlarmsRepository) {}

  @Handles(listAlarms)
  async list(_request: EmptyRequest): Promise<ListAlarmsReply> {
    return this.alarms.list();
  }

  @Handles(reportAlarms)
  async report(request: ReportAlarmsRequest): Promise<ReportAlarmsReply> {
    await this.alarms.save(request);
    return {};
  }
}
