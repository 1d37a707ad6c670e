import { ApiProperty } from '@nestjs/swagger';
import { platformUsername, type StreamerMessage } from '@stream-events/contracts';
import { IsBoolean, Matches } from 'class-validator';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import { printTime } from '../http/time.js';

const exampleName = 'Mira_Plays';
const isTrueOrFalse = { message: 'must be true or false' };

class StreamerStateBody {
  @ApiProperty({
    required: false,
    description: 'Whether the streamer is live, as far as you know; the platform’s word replaces it',
    example: false,
  })
  @MayBeAbsent()
  @IsBoolean(isTrueOrFalse)
  streaming?: boolean;

  @ApiProperty({
    required: false,
    description: 'A disabled streamer is not monitored, and keeps its streams',
    example: false,
  })
  @MayBeAbsent()
  @IsBoolean(isTrueOrFalse)
  disabled?: boolean;
}

/** Body of `POST /api/v1/streamers` and of PUT; booleans that are left out are false. */
export class StreamerBody extends StreamerStateBody {
  @ApiProperty({
    minLength: 1,
    maxLength: 64,
    pattern: platformUsername.pattern.source,
    description: 'The user’s name on the platform, in any case; trimmed. `twitch_username` is the same',
    example: exampleName,
  })
  @Trimmed()
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platform_username!: string;
}

/** Body of PATCH; fields that are left out stay as they are. */
export class StreamerChangesBody extends StreamerStateBody {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 64,
    pattern: platformUsername.pattern.source,
    description: 'Another name of the same user on the platform; trimmed. `twitch_username` is the same',
    example: exampleName,
  })
  @Trimmed()
  @MayBeAbsent()
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platform_username?: string;
}

/** A monitored streamer, as the API shows one. */
export class StreamerRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    description: 'As it was sent; it follows when the user takes another name on the platform',
    example: exampleName,
  })
  platform_username!: string;

  @ApiProperty({ description: 'The platform’s id of the user, which stays the same', example: '47019283' })
  platform_id!: string;

  @ApiProperty({ description: 'Whether the streamer is live', example: false })
  streaming!: boolean;

  @ApiProperty({ description: 'Whether the streamer is not monitored', example: false })
  disabled!: boolean;

  @ApiProperty({ description: 'UTC, to the second', example: '2026-11-21T07:30:00+0000' })
  created!: string;

  @ApiProperty({ description: 'UTC, to the second', example: '2026-11-21T07:30:00+0000' })
  updated!: string;
}

/** Shows a streamer as the API does. */
export function toStreamerRecord(streamer: StreamerMessage): StreamerRecord {
  return {
    id: streamer.id,
    platform_username: streamer.platformUsername,
    platform_id: streamer.platformId,
    streaming: streamer.streaming,
    disabled: streamer.disabled,
    created: printTime(streamer.createdAt),
    updated: printTime(streamer.updatedAt),
  };
}
