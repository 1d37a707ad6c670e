import { Controller } from '@nestjs/common';
import { getPlatformStatus, type EmptyRequest, type PlatformStatusReply } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { PlatformStatusService } from './platform-status.service.js';

@Controller()
export class StatusController {
  constructor(private readonly status: PlatformStatusService) {}

  @Handles(getPlatformStatus)
  async get(_request: EmptyRequest): Promise<PlatformStatusReply> {
    return this.status.read();
  }
}
