import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { ChatModule } from './chat/chat.module.js';
import { ConduitsModule } from './conduits/conduits.module.js';
import { FaultsModule } from './faults/faults.module.js';
import { GrantsModule } from './grants/grants.module.js';
import { HttpModule } from './http/http.module.js';
import { PlatformErrorFilter } from './http/platform-error.filter.js';
import { LimitsModule } from './limits/limits.module.js';
import { MessagesModule } from './messages/messages.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { PicturesModule } from './pictures/pictures.module.js';
import { ScenariosModule } from './scenarios/scenarios.module.js';
import { SimulatorModule } from './simulator/simulator.module.js';
import { SocketsModule } from './sockets/sockets.module.js';
import { StreamsModule } from './streams/streams.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { TransportsModule } from './transports/transports.module.js';
import { UsersModule } from './users/users.module.js';
import { WorldModule } from './world/world.module.js';

@Module({
  imports: [
    HttpModule,
    WorldModule,
    LimitsModule,
    FaultsModule,
    GrantsModule,
    OAuthModule,
    MessagesModule,
    SocketsModule,
    TransportsModule,
    ConduitsModule,
    SubscriptionsModule,
    NotificationsModule,
    UsersModule,
    StreamsModule,
    ChatModule,
    PicturesModule,
    ScenariosModule,
    SimulatorModule,
  ],
  providers: [
    { provide: APP_PIPE, useValue: new ValidationPipe({ whitelist: true, transform: true }) },
    { provide: APP_FILTER, useClass: PlatformErrorFilter },
  ],
})
export class PlatformSimulatorModule {}
