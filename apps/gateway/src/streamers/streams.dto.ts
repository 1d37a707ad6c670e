import { ApiProperty } from '@nestjs/swagger';
import type { StreamMessage, StreamSampleMessage } from '@stream-events/contracts';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

const exampleTitle = 'Speedrunning all evening';
const game = { id: '493057', name: 'Celeste' };

/** A stream as the API returns it. */
export class StreamRecord {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({ description: 'The stream’s id on the platform', example: '41375541868' })
  stream_id!: string;

  @ApiProperty({ description: 'The streamer’s id on the platform', example: '47019283' })
  user_id!: string;

  @ApiProperty({ description: 'The streamer’s login on the platform', example: 'mira_plays' })
  user_login!: string;

  @ApiProperty({ description: 'The streamer’s display name on the platform', example: 'Mira_Plays' })
  user_name!: string;

  @ApiProperty({
    description: 'The category’s id on the platform. Empty if the stream has none',
    example: game.id,
  })
  game_id!: string;

  @ApiProperty({ description: 'The name of the category. Empty if the stream has none', example: game.name })
  game_name!: string;

  @ApiProperty({ description: 'The type of the stream', example: 'live' })
  type!: string;

  @ApiProperty({
    description: 'The latest title. Empty until the platform lists the new stream',
    example: exampleTitle,
  })
  title!: string;

  @ApiProperty({
    type: 'integer',
    description: 'The latest number of viewers. 0 until the platform lists the new stream',
    example: 312,
  })
  viewer_count!: number;

  @ApiProperty({ description: 'Start time, UTC, to the second', example: exampleTime })
  started_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'End time, UTC, to the second. Null while the stream is live',
    example: null,
  })
  ended_at!: string | null;

  @ApiProperty({ description: 'The language code of the stream', example: 'en' })
  language!: string;

  @ApiProperty({
    description: 'URL of a preview image. Replace `{width}` and `{height}` with a size in pixels',
    example: 'https://thumbnails.example/mira_plays-{width}x{height}.jpg',
  })
  thumbnail_url!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Always null on platforms without tag ids',
    example: null,
  })
  tag_ids!: string | null;

  @ApiProperty({ description: 'Whether the stream is for adults only', example: false })
  is_mature!: boolean;
}

export class StreamPage {
  @ApiProperty({ type: 'integer', description: 'Number of streams on all pages', example: 1 })
  count!: number;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with older streams. Null on the last page',
    example: null,
  })
  next!: string | null;

  @ApiProperty({
    type: String,
    format: 'uri',
    nullable: true,
    description: 'URL of the page with newer streams. Null on the first page',
    example: null,
  })
  previous!: string | null;

  @ApiProperty({ type: [StreamRecord], description: 'The streams of this page, newest first' })
  results!: StreamRecord[];
}

/** A measurement during a stream, for charts. */
export class StreamSample {
  @ApiProperty({ description: 'Time of the sample, UTC, to the second', example: exampleTime })
  at!: string;

  @ApiProperty({ type: 'integer', description: 'Number of viewers', example: 312 })
  viewer_count!: number;

  @ApiProperty({ description: 'The title', example: exampleTitle })
  title!: string;

  @ApiProperty({
    description: 'The category’s id on the platform. Empty if the stream has none',
    example: game.id,
  })
  game_id!: string;

  @ApiProperty({ description: 'The name of the category. Empty if the stream has none', example: game.name })
  game_name!: string;
}

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

export function toStreamSample(sample: StreamSampleMessage): StreamSample {
  return {
    at: printTime(sample.at),
    viewer_count: sample.viewerCount,
    title: sample.title,
    game_id: sample.gameId,
    game_name: sample.gameName,
  };
}
