import { ApiProperty } from '@nestjs/swagger';
import type { StreamMessage, StreamSampleMessage } from '@stream-events/contracts';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

const exampleTitle = 'Speedrunning all evening';
const game = { id: '493057', name: 'Celeste' };

/** A stream of a streamer, as the API shows one. */
export class StreamRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({ description: 'The platform’s id of the stream', example: '41375541868' })
  stream_id!: string;

  @ApiProperty({ description: 'The platform’s id of the streamer', example: '47019283' })
  user_id!: string;

  @ApiProperty({ description: 'The streamer’s login on the platform', example: 'mira_plays' })
  user_login!: string;

  @ApiProperty({ description: 'The same as it is shown', example: 'Mira_Plays' })
  user_name!: string;

  @ApiProperty({
    description: 'The platform’s id of the category; empty when there is none',
    example: game.id,
  })
  game_id!: string;

  @ApiProperty({ description: 'The category; empty when there is none', example: game.name })
  game_name!: string;

  @ApiProperty({ description: 'Kind of stream', example: 'live' })
  type!: string;

  @ApiProperty({
    description: 'The latest title; empty until the platform lists the new stream',
    example: exampleTitle,
  })
  title!: string;

  @ApiProperty({
    type: 'integer',
    description: 'The latest number of viewers; 0 until the platform lists the new stream',
    example: 312,
  })
  viewer_count!: number;

  @ApiProperty({ description: 'UTC, to the second', example: exampleTime })
  started_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'UTC, to the second; null while the stream is running',
    example: null,
  })
  ended_at!: string | null;

  @ApiProperty({ description: 'Language code', example: 'en' })
  language!: string;

  @ApiProperty({
    description: 'Put a size in place of `{width}` and `{height}`',
    example: 'https://thumbnails.example/mira_plays-{width}x{height}.jpg',
  })
  thumbnail_url!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null where the platform has none',
    example: null,
  })
  tag_ids!: string | null;

  @ApiProperty({ description: 'Whether it is for adults', example: false })
  is_mature!: boolean;
}

/** One page of a streamer's streams. */
export class StreamPage {
  @ApiProperty({ type: 'integer', description: 'How many streams the streamer has in all', example: 1 })
  count!: number;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'The page of older streams; null means the end',
    example: null,
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'The page of newer streams; null when there are none',
    example: null,
  })
  previous!: string | null;

  @ApiProperty({ type: [StreamRecord], description: 'The one that began last comes first' })
  results!: StreamRecord[];
}

/** What a stream looked like at a moment, for charts. */
export class StreamSample {
  @ApiProperty({ description: 'UTC, to the second', example: exampleTime })
  at!: string;

  @ApiProperty({ type: 'integer', description: 'How many watched', example: 312 })
  viewer_count!: number;

  @ApiProperty({ description: 'The title', example: exampleTitle })
  title!: string;

  @ApiProperty({
    description: 'The platform’s id of the category; empty when there is none',
    example: game.id,
  })
  game_id!: string;

  @ApiProperty({ description: 'The category; empty when there is none', example: game.name })
  game_name!: string;
}

/** Shows a stream as the API does. */
export function toStreamRecord(stream: StreamMessage): StreamRecord {
  return {
    id: stream.id,
    stream_id: stream.streamId,
    user_id: stream.userId,
    user_login: stream.userLogin,
    user_name: stream.userName,
    game_id: stream.gameId,
    game_name: stream.gameName,
    type: stream.type,
    title: stream.title,
    viewer_count: stream.viewerCount,
    started_at: printTime(stream.startedAt),
    ended_at: printTimeOrNull(stream.endedAt),
    language: stream.language,
    thumbnail_url: stream.thumbnailUrl,
    tag_ids: stream.tagIds,
    is_mature: stream.isMature,
  };
}

/** Shows a sample as the API does. */
export function toStreamSample(sample: StreamSampleMessage): StreamSample {
  return {
    at: printTime(sample.at),
    viewer_count: sample.viewerCount,
    title: sample.title,
    game_id: sample.gameId,
    game_name: sample.gameName,
  };
}
