import { ApiProperty } from '@nestjs/swagger';
import { platformUsername, type StreamerMessage } from '@stream-events/contracts';
import { IsBoolean, Matches } from 'class-validator';
import { aliasOf } from '../http/field-aliases.js';
import { MayBeAbsent, Trimmed } from '../http/json-body.decorator.js';
import { printTime } from '../http/time.js';

const exampleName = 'Mira_Plays';
const aliasNote = `\`${aliasOf('platform_username')}\` is an alias of this field`;
const isTrueOrFalse = { message: 'must be true or false' };

class StreamerStateBody {
  @ApiProperty({
    required: false,
    description:
      'Whether you assume that the streamer is live. The platform’s information replaces this value',
    example: false,
  })
  @MayBeAbsent()
  @IsBoolean(isTrueOrFalse)
  streaming?: boolean;

  @ApiProperty({
    required: false,
    description:
      'Whether to stop monitoring the streamer. The service keeps the streams of a disabled streamer',
    example: false,
  })
  @MayBeAbsent()
  @IsBoolean(isTrueOrFalse)
  disabled?: boolean;
}

/** Body of POST and PUT. Omitted booleans are false. */
export class StreamerBody extends StreamerStateBody {
  @ApiProperty({
    minLength: 1,
    maxLength: 64,
    pattern: platformUsername.pattern.source,
    description: `The user’s name on the platform. Case-insensitive, trimmed. ${aliasNote}`,
    example: exampleName,
  })
  @Trimmed()
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platform_username!: string;
}

/** Body of PATCH. Omitted fields keep their values. */
export class StreamerChangesBody extends StreamerStateBody {
  @ApiProperty({
    required: false,
    minLength: 1,
    maxLength: 64,
    pattern: platformUsername.pattern.source,
    description: `A new name of the same user on the platform. Trimmed. ${aliasNote}`,
    example: exampleName,
  })
  @Trimmed()
  @MayBeAbsent()
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platform_username?: string;
}

/** A monitored streamer as the API returns it. */
export class StreamerRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    description: 'The name as the client sent it, until the user changes the name on the platform',
    example: exampleName,
  })
  platform_username!: string;

  @ApiProperty({ description: 'The user’s id on the platform, which never changes', example: '47019283' })
  platform_id!: string;

  @ApiProperty({ description: 'Whether the streamer is live', example: false })
  streaming!: boolean;

  @ApiProperty({ description: 'Whether monitoring of the streamer is disabled', example: false })
  disabled!: boolean;

  @ApiProperty({ description: 'Creation time, UTC, to the second', example: '2026-11-21T07:30:00+0000' })
  created!: string;

  @ApiProperty({
    description: 'Time of the last change, UTC, to the second',
    example: '2026-11-21T07:30:00+0000',
  })
  updated!: string;
}

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
