import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsText } from '@stream-events/contracts';
import { IsBoolean, isUUID } from 'class-validator';
import { MayBeAbsent, RefusesUnknownFields, Trimmed } from '../http/json-body.decorator.js';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';
import { maxConnectionNameLength } from '../live/live-limits.js';
import { IsTime, satisfies, toTime } from '../replays/range-fields.js';
import { replayStatuses, type ReplayStatus } from '../replays/replay.entity.js';
import { ReplayFilters } from '../replays/replays.dto.js';
import { rehearsalLimits } from './rehearsal-limits.js';
import type { Rehearsal } from './rehearsal.entity.js';

const { minSpeed, maxSpeed, maxRangeDays } = rehearsalLimits;
const maxRangeMs = maxRangeDays * 86_400_000;

const exampleId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

const connection = {
  type: String,
  description: 'Name of the live connections that receive the rehearsal',
  example: 'alerts-overlay',
};

const position = {
  type: String,
  description: 'The time in the stream that the rehearsal has reached',
  example: '2026-11-20T19:42:10+0000',
};

const speed = {
  type: 'number',
  minimum: minSpeed,
  maximum: maxSpeed,
  description: 'Playback speed: seconds of the stream per second of real time',
  example: 2,
} as const;

const paused = { type: Boolean, description: 'Whether the rehearsal is paused', example: false };

/** The fields that clients can change while a rehearsal runs. */
export class RehearsalChangeBody {
  @ApiProperty({ ...speed, required: false })
  @MayBeAbsent()
  @IsSpeed()
  speed?: number;

  @ApiProperty({ ...paused, required: false })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  paused?: boolean;

  @ApiProperty({
    ...position,
    required: false,
    description:
      'Continues at this ISO 8601 time in the stream. Sends the events from this time on, including events that were already sent',
  })
  @MayBeAbsent()
  @IsTime()
  position?: string;
}

/** Body of `POST /api/v1/rehearsals`. Rejects unknown fields: with a misspelled filter, every event of the range would be sent. */
@RefusesUnknownFields([])
export class RehearsalBody extends ReplayFilters {
  @ApiProperty({
    ...connection,
    minLength: 1,
    maxLength: maxConnectionNameLength,
    description: `${connection.description}. Leading and trailing spaces are removed`,
  })
  @Trimmed()
  @IsText(1, maxConnectionNameLength)
  connection!: string;

  @IdField('Id of the user whose connections receive the rehearsal. Default: you. Owners only')
  user?: string;

  @IdField('Id of the streamer of `stream`')
  @satisfies(
    'isWithStream',
    'must be given together with stream',
    (value, body) => (value === undefined) === (body.stream === undefined),
  )
  streamer?: string;

  @IdField(
    'Id of a stream of `streamer`. Rehearses the events of the channel from the start to the end of the stream, or until now if the stream is live. Default of `origin`: `platform`',
  )
  stream?: string;

  @ApiProperty({
    required: false,
    description: `Without a stream: events created at or after this ISO 8601 time. The range can span at most ${maxRangeDays} days`,
    example: '2026-11-20T18:00:00Z',
  })
  @satisfies('isSinceOrStream', 'is required without stream and not allowed with stream', isOnlyWithoutStream)
  @satisfies(
    'isRange',
    `must be an ISO 8601 time in the past, at most ${maxRangeDays} days before until`,
    isBeginningOfRange,
  )
  since?: string;

  @ApiProperty({
    required: false,
    description: 'Without a stream: events created before this ISO 8601 time. Default and maximum: now',
    example: exampleTime,
  })
  @MayBeAbsent()
  @IsTime()
  @satisfies('isUntilOrStream', 'is not allowed with stream', (_, { stream }) => stream === undefined)
  until?: string;

  @ApiProperty({ ...speed, required: false, default: 1 })
  @MayBeAbsent()
  @IsSpeed()
  speed?: number;

  @ApiProperty({ ...paused, required: false, default: false })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  paused?: boolean;

  @ApiProperty({
    ...position,
    required: false,
    description: 'ISO 8601 time in the stream where the rehearsal begins. Default: the start of the range',
  })
  @MayBeAbsent()
  @IsTime()
  position?: string;
}

/** A rehearsal as the API returns it. */
export class RehearsalRecord extends ReplayFilters {
  @ApiProperty({ format: 'uuid', description: 'Assigned by the service', example: exampleId })
  id!: string;

  @ApiProperty({
    enum: replayStatuses,
    description: '`running` includes a rehearsal that is paused or waits for a connection',
    example: 'running',
  })
  status!: ReplayStatus;

  @ApiProperty(connection)
  connection!: string;

  @ApiProperty({
    format: 'uuid',
    description: 'Id of the user whose connections receive the rehearsal',
    example: exampleId,
  })
  user!: string;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Id of the streamer of `stream`',
    example: exampleId,
  })
  streamer!: string | null;

  @ApiProperty({
    type: String,
    format: 'uuid',
    nullable: true,
    description: 'Id of the stream. Null for a time range',
    example: exampleId,
  })
  stream!: string | null;

  @ApiProperty({ description: 'Start of the range', example: '2026-11-20T18:00:00+0000' })
  since!: string;

  @ApiProperty({ description: 'End of the range', example: '2026-11-20T22:15:00+0000' })
  until!: string;

  @ApiProperty(speed)
  speed!: number;

  @ApiProperty(paused)
  paused!: boolean;

  @ApiProperty(position)
  position!: string;

  @ApiProperty({
    type: 'integer',
    description:
      'Number of events sent, including repeated events and events that were skipped because they were erased',
    example: 412,
  })
  sent!: number;

  @ApiProperty({
    type: 'integer',
    description:
      'Number of open connections named `connection`. The rehearsal waits while no such connection is open',
    example: 1,
  })
  connections!: number;

  @ApiProperty({ description: 'When the rehearsal started', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the rehearsal ended. Null while it is running',
    example: null,
  })
  finished!: string | null;

  @ApiProperty({ description: 'User name of the user who started the rehearsal', example: 'admin' })
  created_by!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the rehearsal failed. Null if it did not fail',
    example: null,
  })
  error!: string | null;
}

export function toRehearsalRecord(rehearsal: Rehearsal): RehearsalRecord {
  const { id, status, filters, speed, isPaused, sent, connections, error } = rehearsal;
  return {
    id,
    status,
    connection: rehearsal.connectionName,
    user: rehearsal.userId,
    streamer: rehearsal.streamerId,
    stream: rehearsal.streamId,
    ...filters,
    since: printTime(rehearsal.since.getTime()),
    until: printTime(rehearsal.until.getTime()),
    speed,
    paused: isPaused,
    position: printTime(rehearsal.reachedAt.getTime()),
    sent,
    connections: status === 'running' ? connections : 0,
    created: printTime(rehearsal.createdAt.getTime()),
    finished: printTimeOrNull(rehearsal.endedAt?.getTime() ?? null),
    created_by: rehearsal.createdBy,
    error,
  };
}

function IdField(description: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: String, format: 'uuid', required: false, description, example: exampleId }),
    satisfies('isId', 'must be a UUID', (value) => value === undefined || isUUID(value)),
  );
}

function IsSpeed(): PropertyDecorator {
  return satisfies(
    'isSpeed',
    `must be a number from ${minSpeed} to ${maxSpeed}`,
    (value) => typeof value === 'number' && value >= minSpeed && value <= maxSpeed,
  );
}

function isOnlyWithoutStream(value: unknown, { stream }: Readonly<Record<string, unknown>>): boolean {
  return (value === undefined) === (stream !== undefined);
}

function isBeginningOfRange(value: unknown, { until }: Readonly<Record<string, unknown>>): boolean {
  if (value === undefined) return true;
  const [since, now] = [toTime(value), Date.now()];
  const end = Math.min(toTime(until) ?? now, now);
  return since !== undefined && since < end && since >= end - maxRangeMs;
}
