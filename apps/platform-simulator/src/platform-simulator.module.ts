import { randomBytes } from 'node:crypto';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { CONFIG } from '@stream-events/service';
import { ApiFaultsService } from './faults/api-faults.service.js';
import { FaultsService } from './faults/faults.service.js';
import { PlatformErrorFilter } from './http/platform-error.filter.js';
import { LimitsController } from './limits/limits.controller.js';
import { PlatformLimits } from './limits/platform-limits.js';
import { RateLimiter } from './limits/rate-limiter.js';
import { DeliveryService } from './messages/delivery.service.js';
import { NotificationGenerator } from './notifications/notification-generator.service.js';
import { NotificationSender } from './notifications/notification-sender.service.js';
import { NotificationsService } from './notifications/notifications.service.js';
import { SimulatedNotificationsController } from './notifications/simulated-notifications.controller.js';
import { AccessTokens } from './oauth/access-tokens.js';
import { OAuthController } from './oauth/oauth.controller.js';
import { SimulatedTokensController } from './oauth/simulated-tokens.controller.js';
import type { SimulatorConfig } from './platform-simulator.config.js';
import { ScenarioPlayer } from './scenarios/scenario-player.service.js';
import { ScenariosController } from './scenarios/scenarios.controller.js';
import { SimulatorController } from './simulator/simulator.controller.js';
import { SimulatedStreamsController } from './streams/simulated-streams.controller.js';
import { StreamsController } from './streams/streams.controller.js';
import { StreamsService } from './streams/streams.service.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions/subscriptions.service.js';
import { SimulatedUsersController } from './users/simulated-users.controller.js';
import { UsersController } from './users/users.controller.js';
import { UsersService } from './users/users.service.js';
import { World } from './world/world.js';

const platformControllers = [OAuthController, UsersController, StreamsController, SubscriptionsController];

const controlControllers = [
  SimulatorController,
  SimulatedUsersController,
  SimulatedStreamsController,
  SimulatedNotificationsController,
  SimulatedTokensController,
  LimitsController,
  ScenariosController,
];

@Module({
  controllers: [...platformControllers, ...controlControllers],
  providers: [
    {
      provide: World,
      inject: [CONFIG],
      useFactory: (config: SimulatorConfig) =>
        new World(config.SIMULATOR_SEED ?? randomBytes(4).toString('hex')),
    },
    PlatformLimits,
    RateLimiter,
    AccessTokens,
    FaultsService,
    ApiFaultsService,
    DeliveryService,
    SubscriptionsService,
    NotificationSender,
    NotificationsService,
    NotificationGenerator,
    UsersService,
    StreamsService,
    ScenarioPlayer,
    { provide: APP_PIPE, useValue: new ValidationPipe({ whitelist: true, transform: true }) },
    { provide: APP_FILTER, useClass: PlatformErrorFilter },
  ],
})
export class PlatformSimulatorModule {}
