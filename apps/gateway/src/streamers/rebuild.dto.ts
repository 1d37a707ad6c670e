import { ApiProperty } from '@nestjs/swagger';
import { rebuildStates, type RebuildReply } from '@stream-events/contracts';
import { exampleTime, printTimeOrNull } from '../http/time.js';

/** Progress of the latest rebuild of streams from stored events. */
export class RebuildRecord {
  @ApiProperty({
    enum: rebuildStates,
    description: '`none`: no rebuild has ever been started',
    example: 'running',
  })
  state!: RebuildReply['state'];

  @ApiProperty({ type: 'integer', description: 'Number of streamers processed so far', example: 1200 })
  streamers_done!: number;

  @ApiProperty({ type: 'integer', description: 'Total number of streamers', example: 10000 })
  streamers_total!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Number of streams that were added, changed, or removed',
    example: 3,
  })
  streams_changed!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Start time, UTC, to the second. Null if no rebuild has run',
    example: exampleTime,
  })
  started_at!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'End time, UTC, to the second. Null until the rebuild ends',
    example: null,
  })
  ended_at!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the rebuild failed. Null if it did not fail',
    example: null,
  })
  error!: string | null;
}

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
