import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { toOutcome } from '../messages/delivery.service.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { NotificationSender } from './notification-sender.service.js';
import { OccurrenceDto } from './occurrence.dto.js';
import { RevokeSubscriptionDto } from './revocation.dto.js';
import { SendNotificationDto } from './notification.dto.js';
import { NotificationsService, type SentMessage } from './notifications.service.js';

@Controller('simulator')
export class SimulatedNotificationsController {
  constructor(
    @Inject(NotificationsService) private readonly notifications: NotificationsService,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
  ) {}

  @Post('notifications')
  @HttpCode(200)
  send(@Body() request: SendNotificationDto): Promise<SentMessage> {
    return this.notifications.send(request);
  }

  /**
   * Sends an event to every matching subscription, with retries. Each subscription gets its own message id. `shards` lists one shard per
   * message over a conduit: the one that sends the message, or the channel's own shard if no suitable shard is enabled.
   */
  @Post('occurrences')
  @HttpCode(202)
  happen(@Body() { type, event }: OccurrenceDto): { subscriptions: number; shards: string[] } {
    const subscriptions = this.subscriptions.findMatching({ type, event }).length;
    return { subscriptions, shards: this.sender.notifyAll({ type, event }) };
  }

  @Post('revocations')
  @HttpCode(200)
  async revoke(@Body() request: RevokeSubscriptionDto): Promise<SentMessage> {
    const { message, reply } = await this.subscriptions.revoke(request.subscription_id, request.status);
    const { id, timestamp, body } = message;
    return { message_id: id, timestamp, body, responses: [toOutcome(reply)] };
  }
}
