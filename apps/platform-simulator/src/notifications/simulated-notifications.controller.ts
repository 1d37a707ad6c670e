import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { toOutcome } from '../messages/delivery.service.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { RevokeSubscriptionDto } from './revocation.dto.js';
import { SendNotificationDto } from './notification.dto.js';
import { NotificationsService, type SentMessage } from './notifications.service.js';

/** Sends notifications and revocations on request. */
@Controller('simulator')
export class SimulatedNotificationsController {
  constructor(
    @Inject(NotificationsService) private readonly notifications: NotificationsService,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
  ) {}

  @Post('notifications')
  @HttpCode(200)
  send(@Body() request: SendNotificationDto): Promise<SentMessage> {
    return this.notifications.send(request);
  }

  @Post('revocations')
  @HttpCode(200)
  async revoke(@Body() request: RevokeSubscriptionDto): Promise<SentMessage> {
    const { message, reply } = await this.subscriptions.revoke(request.subscription_id, request.status);
    const { id, timestamp, body } = message;
    return { message_id: id, timestamp, body, responses: [toOutcome(reply)] };
  }
}
