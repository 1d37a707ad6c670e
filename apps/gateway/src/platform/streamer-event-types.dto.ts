import { ApiProperty } from '@nestjs/swagger';
import { ArrayMaxSize, IsArray, IsString, ValidateIf } from 'class-validator';

/** The event types of a streamer. The service subscribes to those that are active. */
export class StreamerEventTypesBody {
  @ApiProperty({
    type: [String],
    nullable: true,
    maxItems: 100,
    description:
      'The event types, as they appear in events (`stream-online`) or as the platform writes them (`stream.online`), at most 100. Null: all active event types',
    example: ['stream-online', 'stream-offline', 'channel-follow'],
  })
  @ValidateIf((_body: object, value: unknown) => value !== null)
  @IsArray({ message: 'must be a list of event types, or null' })
  @ArrayMaxSize(100, { message: 'must have at most 100 entries' })
  @IsString({ each: true, message: 'must be a list of texts' })
  event_types!: string[] | null;
}
