import { ApiProperty } from '@nestjs/swagger';
import type { RebuildReply } from '@stream-events/contracts';
import { exampleTime, printTimeOrNull } from '../http/time.js';

/** How far the latest rebuilding of streams from the events is. */
export class RebuildRecord {
  @ApiProperty({
    enum: ['none', 'running', 'done', 'failed'],
    description: '`none`: there was none since the service was started',
    example: 'running',
  })
  state!: RebuildReply['state'];

  @ApiProperty({ type: 'integer', description: 'How many streamers are done', example: 1200 })
  streamers_done!: number;

  @ApiProperty({ type: 'integer', description: 'Of how many', example: 10000 })
  streamers_total!: number;

  @ApiProperty({ type: 'integer', description: 'Streams that were added, changed or removed', example: 3 })
  streams_changed!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'UTC, to the second; null: never',
    example: exampleTime,
  })
  started_at!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'UTC, to the second; null: not yet',
    example: null,
  })
  ended_at!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it failed', example: null })
  error!: string | null;
}

/** Shows a rebuilding as the API does. */
export function toRebuildRecord(rebuild: RebuildReply): RebuildRecord {
  return {
    state: rebuild.state,
    streamers_done: rebuild.streamersDone,
    streamers_total: rebuild.streamersTotal,
    streams_changed: rebuild.streamsChanged,
    started_at: printTimeOrNull(rebuild.startedAt),
    ended_at: printTimeOrNull(rebuild.endedAt),
    error: rebuild.error,
  };
}
