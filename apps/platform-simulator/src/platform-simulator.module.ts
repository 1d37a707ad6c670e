import { randomBytes } from 'node:crypto';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { CONFIG } from '@stream-events/service';
import { DeliveryService } from './messages/delivery.service.js';
import { NotificationGenerator } from './notifications/notification-generator.service.js';
import { NotificationsService } from './notifications/notifications.service.js';
import { PlatformErrorFilter } from './platform-error.filter.js';
import type { SimulatorConfig } from './platform-simulator.config.js';
import { SimulatorController } from './simulator/simulator.controller.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions/subscriptions.service.js';
import { World } from './world/world.js';

@Module({
  controllers: [SubscriptionsController, SimulatorController],
  providers: [
    {
      provide: World,
      inject: [CONFIG],
      useFactory: (config: SimulatorConfig) =>
        new World(config.SIMULATOR_SEED ?? randomBytes(4).toString('hex')),
    },
    DeliveryService,
    SubscriptionsService,
    NotificationsService,
    NotificationGenerator,
    { provide: APP_PIPE, useValue: new ValidationPipe({ whitelist: true, transform: true }) },
    { provide: APP_FILTER, useClass: PlatformErrorFilter },
  ],
})
export class PlatformSimulatorModule {}
