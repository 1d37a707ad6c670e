import { randomBytes } from 'node:crypto';
import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { CONFIG } from '@stream-events/service';
import { ApiFaultsService } from './behavior/api-faults.service.js';
import { FaultsService } from './behavior/faults.service.js';
import { LimitsController, PlatformLimits } from './behavior/platform-limits.js';
import { RateLimiter } from './behavior/rate-limiter.js';
import { ChannelsController } from './channels/channels.controller.js';
import { ChatMessagesController } from './channels/chat-messages.controller.js';
import { PicturesController } from './channels/pictures.controller.js';
import { SimulatedStreamsController, StreamsController } from './channels/streams.controller.js';
import { StreamsService } from './channels/streams.service.js';
import { ConduitsController } from './conduits/conduits.controller.js';
import { ConduitsService } from './conduits/conduits.service.js';
import { ControlAccess } from './http/control-access.js';
import { PlatformErrorFilter } from './http/platform-error.filter.js';
import { AutomaticNotifications } from './notifications/automatic-notifications.service.js';
import { NotificationGenerator } from './notifications/notification-generator.service.js';
import { NotificationSender } from './notifications/notification-sender.service.js';
import { NotificationsService } from './notifications/notifications.service.js';
import { SimulatedNotificationsController } from './notifications/simulated-notifications.controller.js';
import { Applications } from './oauth/applications.js';
import { ConsentPagesController } from './oauth/consent-pages.controller.js';
import { ConsentsService } from './oauth/consents.service.js';
import { Grants } from './oauth/grants.js';
import { DeviceController, OAuthController } from './oauth/oauth.controller.js';
import { SimulatedConsentsController } from './oauth/simulated-consents.controller.js';
import { TokenController } from './oauth/token.controller.js';
import { Tokens } from './oauth/tokens.js';
import type { SimulatorConfig } from './platform-simulator.config.js';
import { ScenarioPlayer } from './simulator/scenario-player.service.js';
import { ScenariosController, SimulatorController } from './simulator/simulator.controller.js';
import { RequestChecks } from './subscriptions/request-checks.service.js';
import { SubscriptionEndings } from './subscriptions/subscription-endings.service.js';
import { SubscriptionsController } from './subscriptions/subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions/subscriptions.service.js';
import { DeliveryCounts, DeliveryService } from './transports/delivery.service.js';
import { SimulatedSocketsController } from './transports/simulated-sockets.controller.js';
import { SocketServer } from './transports/socket-server.service.js';
import { Transports } from './transports/transports.service.js';
import { SimulatedUsersController } from './users/simulated-users.controller.js';
import { UsersController } from './users/users.controller.js';
import { UsersService } from './users/users.service.js';
import { World } from './world/world.js';

/** The whole simulator. One module is enough, because `folderOrders` in eslint.config.mjs keeps the dependencies one-way. */
@Module({
  controllers: [
    ...[TokenController, DeviceController, OAuthController, ConsentPagesController],
    ...[UsersController, ChannelsController, StreamsController],
    ...[ChatMessagesController, PicturesController, SubscriptionsController, ConduitsController],
    // The control API.
    ...[SimulatorController, ScenariosController, LimitsController, SimulatedConsentsController],
    ...[SimulatedUsersController, SimulatedStreamsController, SimulatedSocketsController],
    SimulatedNotificationsController,
  ],
  providers: [
    { provide: APP_PIPE, useValue: new ValidationPipe({ whitelist: true, transform: true }) },
    { provide: APP_FILTER, useClass: PlatformErrorFilter },
    {
      provide: World,
      inject: [CONFIG],
      useFactory: ({ SIMULATOR_SEED }: SimulatorConfig) =>
        new World(SIMULATOR_SEED ?? randomBytes(4).toString('hex')),
    },
    ...[ControlAccess, PlatformLimits, RateLimiter, FaultsService, ApiFaultsService],
    ...[Grants, Applications, Tokens, ConsentsService],
    ...[DeliveryCounts, DeliveryService, SocketServer, Transports, ConduitsService],
    ...[RequestChecks, SubscriptionsService, SubscriptionEndings],
    ...[NotificationSender, NotificationsService, NotificationGenerator, AutomaticNotifications],
    ...[UsersService, StreamsService, ScenarioPlayer],
  ],
})
export class PlatformSimulatorModule {}
