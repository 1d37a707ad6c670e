import { Controller } from '@nestjs/common';
import { storeEvents, type StoreEventsReply, type StoreEventsRequest } from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { IntakeService } from './intake.service.js';

@Controller()
export class IntakeController {
  constructor(private readonly intake: IntakeService) {}

  @Handles(storeEvents)
  async storeEvents(request: StoreEventsRequest): Promise<StoreEventsReply> {
    return { outcomes: await this.intake.store(request.events) };
  }
}
