import { Module } from '@nestjs/common';
import { GrantsModule } from '../grants/grants.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { WorldModule } from '../world/world.module.js';
import { ChannelsController } from './channels.controller.js';
import { ChatMessagesController } from './chat-messages.controller.js';

@Module({
  imports: [GrantsModule, NotificationsModule, OAuthModule, WorldModule],
  controllers: [ChannelsController, ChatMessagesController],
})
export class ChatModule {}
