import { randomUUID } from 'node:crypto';
import {
  BadRequestException,
  Body,
  Controller,
  ForbiddenException,
  HttpCode,
  Inject,
  Post,
  UnauthorizedException,
  UnprocessableEntityException,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { QueryAsBody } from '../http/request-parameters.js';
import { IsFilledText, IsOptionalText } from '../http/validation.js';
import { NotificationSender } from '../notifications/notification-sender.service.js';
import { Grants } from '../oauth/grants.js';
import { Caller, PlatformApiGuard } from '../oauth/platform-api.guard.js';
import type { TokenOwner } from '../oauth/tokens.js';
import { identify } from '../world/payloads/scene.js';
import type { User } from '../world/user-directory.js';
import { World } from '../world/world.js';

/** Body of `POST /helix/chat/messages` (FACTS.md §4.9). */
export class ChatMessageDto {
  @IsFilledText()
  broadcaster_id!: string;

  @IsFilledText()
  sender_id!: string;

  @IsFilledText()
  message!: string;

  @IsOptionalText()
  reply_parent_message_id?: string;
}

interface SentChatMessage {
  message_id: string;
  is_sent: boolean;
  drop_reason: null;
}

const scope = 'user:write:chat';
// Message length limit (FACTS.md §4.9).
const maxLength = 500;

/** Sends chat messages. Each message becomes a `channel.chat.message` event for the subscriptions (FACTS.md §4.9). */
@Controller('helix/chat/messages')
@UseGuards(PlatformApiGuard)
export class ChatMessagesController {
  constructor(
    @Inject(World) private readonly world: World,
    @Inject(Grants) private readonly grants: Grants,
    @Inject(NotificationSender) private readonly notifications: NotificationSender,
  ) {}

  @Post()
  @HttpCode(200)
  @UseInterceptors(QueryAsBody)
  send(@Caller() caller: TokenOwner, @Body() request: ChatMessageDto): { data: SentChatMessage[] } {
    const { broadcaster_id: broadcasterId, sender_id: senderId, message: text } = request;
    if (caller.userId === null) this.checkGrants(caller.clientId, request);
    else checkToken(caller, senderId);
    const sender = this.world.users.find(senderId);
    if (!sender || !this.world.users.find(broadcasterId))
      throw new BadRequestException('The ID in broadcaster_id or sender_id is not valid.');
    if (text.length > maxLength) throw new UnprocessableEntityException('The message is too large.');
    const id = randomUUID();
    this.show(id, sender, request);
    return { data: [{ message_id: id, is_sent: true, drop_reason: null }] };
  }

  /**
   * Checks a request with an app access token. The sender must have granted `user:write:chat` and `user:bot`. The sender must also be the
   * broadcaster or a moderator, or the broadcaster must have granted `channel:bot`.
   */
  private checkGrants(clientId: string, { broadcaster_id, sender_id }: ChatMessageDto): void {
    const has = (userId: string, wanted: string): boolean =>
      this.grants.hasOneOf({ clientId, userId }, [wanted]);
    const isBot = has(sender_id, scope) && has(sender_id, 'user:bot');
    const { moderators } = this.world.channel(broadcaster_id);
    const isWelcome =
      sender_id === broadcaster_id ||
      has(broadcaster_id, 'channel:bot') ||
      moderators.some(({ id }) => id === sender_id);
    if (!isBot || !isWelcome)
      throw new ForbiddenException(
        'The sender is not permitted to send chat messages to the broadcaster’s chat room.',
      );
  }

  private show(id: string, sender: User, { broadcaster_id, message: text }: ChatMessageDto): void {
    const type = 'channel.chat.message';
    const { event } = this.world.describeEvent({ type, broadcasterId: broadcaster_id }, new Date());
    this.notifications.notifyAll({
      type,
      event: {
        ...event,
        ...identify('chatter_user', sender),
        message_id: id,
        message: { text, fragments: [{ type: 'text', text, cheermote: null, emote: null, mention: null }] },
        message_type: 'text',
        badges: [],
        cheer: null,
        reply: null,
      },
    });
  }
}

function checkToken({ userId, scopes }: TokenOwner, senderId: string): void {
  if (!scopes.includes(scope)) throw new UnauthorizedException(`Missing scope: ${scope}`);
  if (userId !== senderId)
    throw new UnauthorizedException('The ID in sender_id must match the user ID found in the OAuth token.');
}
