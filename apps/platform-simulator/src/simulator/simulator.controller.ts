import { Body, Controller, Get, HttpCode, Inject, Patch, Post } from '@nestjs/common';
import { DeliveryService } from '../messages/delivery.service.js';
import type { DeliveryCountsView } from '../messages/delivery-counts.js';
import { NotificationGenerator } from '../notifications/notification-generator.service.js';
import { SendNotificationDto } from '../notifications/notification.dto.js';
import { NotificationsService, type SentMessage } from '../notifications/notifications.service.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { simulatedTypes, World, type SimulatedType } from '../world/world.js';
import { ChangeSimulatorDto, RevokeSubscriptionDto } from './simulator.dto.js';

/** The simulator as people and tests see it. */
export interface SimulatorView {
  simulation: true;
  description: string;
  seed: string;
  /** Events per second. */
  rate: number;
  broadcasters: { id: string; login: string; display_name: string; is_live: boolean }[];
  event_types: readonly SimulatedType[];
  /** `missed` are events that were skipped because the callbacks were slower than the rate. */
  notifications: DeliveryCountsView & { missed: number };
}

const description =
  'This is a SIMULATION of a streaming platform for development, demonstration and tests. ' +
  'Its broadcasters, viewers and events are made up.';

/** Controls the simulation; nothing under this path exists on the real platform. */
@Controller('simulator')
export class SimulatorController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(NotificationGenerator) private readonly generator: NotificationGenerator,
    @Inject(NotificationsService) private readonly notifications: NotificationsService,
    @Inject(SubscriptionsService) private readonly subscriptions: SubscriptionsService,
    @Inject(DeliveryService) private readonly delivery: DeliveryService,
  ) {}

  @Get()
  view(): SimulatorView {
    return {
      simulation: true,
      description,
      seed: this.world.seed,
      rate: this.generator.rate,
      broadcasters: this.world.channels.map(({ broadcaster: { id, login, name }, stream }) => {
        return { id, login, display_name: name, is_live: stream !== null };
      }),
      event_types: simulatedTypes,
      notifications: { ...this.delivery.viewCounts(), missed: this.generator.missedCount },
    };
  }

  @Patch()
  change(@Body() request: ChangeSimulatorDto): SimulatorView {
    this.generator.setRate(request.rate);
    return this.view();
  }

  @Post('notifications')
  @HttpCode(200)
  send(@Body() request: SendNotificationDto): Promise<SentMessage> {
    return this.notifications.send(request);
  }

  @Post('revocations')
  @HttpCode(200)
  async revoke(@Body() request: RevokeSubscriptionDto): Promise<SentMessage> {
    const { message, reply } = await this.subscriptions.revoke(request.subscription_id, request.status);
    return { message_id: message.id, timestamp: message.timestamp, body: message.body, responses: [reply] };
  }
}
