import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { IsIn, IsObject, IsString } from 'class-validator';
import { IsFilledText } from '../http/validation.js';
import { revocationStatuses, type RevocationStatus } from '../subscriptions/subscription.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { NotificationSender } from './notification-sender.service.js';
import {
  describeSent,
  NotificationsService,
  SendNotificationDto,
  type SentMessage,
} from './notifications.service.js';

/** Body of `POST /simulator/occurrences`. */
export class OccurrenceDto {
  @IsFilledText()
  type!: string;

  /** Must name its channel in the same fields as an event of the platform. */
  @IsObject()
  event!: Record<string, unknown>;
}

/** Body of `POST /simulator/revocations`. */
export class RevokeSubscriptionDto {
  @IsString()
  subscription_id!: string;

  @IsIn(revocationStatuses)
  status!: RevocationStatus;
}

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
    return describeSent(message, [reply]);
  }
}
