import { IsNotEmpty, IsOptional, IsString } from 'class-validator';

/** Body of `POST /helix/chat/messages` (docs/platform-facts.md §4.9). */
export class ChatMessageDto {
  @IsString()
  @IsNotEmpty()
  broadcaster_id!: string;

  @IsString()
  @IsNotEmpty()
  sender_id!: string;

  @IsString()
  @IsNotEmpty()
  message!: string;

  @IsOptional()
  @IsString()
  reply_parent_message_id?: string;
}
