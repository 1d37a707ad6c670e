import { Controller } from '@nestjs/common';
import {
  listSubscriptions,
  reconcileSubscriptions,
  type AcceptedReply,
  type EmptyRequest,
  type ListSubscriptionsReply,
  type ListSubscriptionsRequest,
} from '@stream-events/contracts';
import { Handles } from '@stream-events/messaging';
import { ReconciliationSchedule } from './reconciliation-schedule.repository.js';
import { SubscriptionListRepository } from './subscription-list.repository.js';

@Controller()
export class SubscriptionsController {
  constructor(
    private readonly subscriptions: SubscriptionListRepository,
    private readonly schedule: ReconciliationSchedule,
  ) {}

  @Handles(listSubscriptions)
  async listSubscriptions(request: ListSubscriptionsRequest): Promise<ListSubscriptionsReply> {
    return this.subscriptions.list(request);
  }

  @Handles(reconcileSubscriptions)
  async reconcileSubscriptions(_request: EmptyRequest): Promise<AcceptedReply> {
    await this.schedule.hint();
    return {};
  }
}
