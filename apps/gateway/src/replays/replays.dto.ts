import { applyDecorators } from '@nestjs/common';
import { ApiProperty, OmitType, PickType } from '@nestjs/swagger';
import { isTextWithin, receivedAt, replayOrigin, textFilters } from '@stream-events/contracts';
import { EventFilterField } from '../event-filters/event-filter-parameters.js';
import { EventRecord } from '../events/events.dto.js';
import { MayBeAbsent, RefusesUnknownFields, Trimmed } from '../http/json-body.decorator.js';
import { exampleTime, printTime, printTimeOrNull, readTime } from '../http/time.js';
import { IsBeforeUntil, IsTime, satisfies, toTime } from './range-fields.js';
import { replayStatuses, type Replay, type ReplayedFilters, type ReplayStatus } from './replay.entity.js';
import type { ReplayOrder } from './replays.repository.js';
import { maxConnectionNameLength } from '../live/live-limits.js';

const defaultRate = 20;
const maxRate = 1_000;

/** The record fields that only the service sets. It ignores them in a body, so that a client can send a record back as the body. */
const readOnlyFields = [
  'id',
  'status',
  'replayed',
  'replayed_until',
  'percent',
  'created',
  'finished',
  'created_by',
  'error',
] satisfies (keyof ReplayRecord)[];

export class ReplayedEventRecord extends OmitType(EventRecord, ['origin']) {
  @ApiProperty({
    enum: [replayOrigin],
    description: 'Always `replay`, regardless of the origin of the stored event',
    example: replayOrigin,
  })
  origin!: typeof replayOrigin;
}

/** What a token without `events:read` gets of a replayed event. */
export class EventReference extends PickType(EventRecord, ['id', 'event_id', 'event_type']) {}

const FilterFields: new () => ReplayedFilters = class {};
// Safe cast: every class has a prototype.
for (const { name } of textFilters) EventFilterField(name)(FilterFields.prototype as object, name);

/** The replay sends only events that match all of these filters. */
export class ReplayFilters extends FilterFields {}

/** Body of `POST /api/v1/replays`. Refuses unknown fields, because a misspelled filter would replay every event to every client. */
@RefusesUnknownFields(readOnlyFields)
export class ReplayBody extends ReplayFilters {
  @ApiProperty({
    description: 'Events created at or after this ISO 8601 time',
    example: '2026-11-21T06:30:00Z',
  })
  @IsTime()
  @IsBeforeUntil()
  since!: string;

  @ApiProperty({
    required: false,
    description: 'Events created before this ISO 8601 time. Default and maximum: now',
    example: exampleTime,
  })
  @MayBeAbsent()
  @IsTime()
  until?: string;

  @ApiProperty({
    required: false,
    type: 'integer',
    minimum: 1,
    maximum: maxRate,
    default: defaultRate,
    description: 'Events per second',
    example: defaultRate,
  })
  @MayBeAbsent()
  @IsRate()
  rate?: number;

  @ConnectionField()
  connection?: string | null;
}

/** The fields of an event record. The service ignores them in a body, so that a client can send the record as the body. */
const eventFields = [
  'id',
  'event_id',
  'event_type',
  'event_source',
  'event_data',
  'created',
  'origin',
] satisfies (keyof EventRecord)[];

/**
 * Body of `POST /api/v1/platform-events/<id>/replay`. Refuses unknown fields, because a misspelled `connection` would replay the event to
 * all connections.
 */
@RefusesUnknownFields(eventFields)
export class EventReplayBody {
  @ConnectionField()
  connection?: string | null;
}

/**
 * A replay of a range, as the API returns it. Contains all fields of `ReplayBody`, so that a client can send the record back to start the
 * same replay again.
 */
export class ReplayRecord extends ReplayFilters {
  @ApiProperty({
    format: 'uuid',
    description: 'Assigned by the service',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({
    enum: replayStatuses,
    description: '`running` includes a replay that waits because a part of the service is down',
    example: 'running',
  })
  status!: ReplayStatus;

  @ApiProperty({ description: 'Start of the range', example: '2026-11-21T06:30:00+0000' })
  since!: string;

  @ApiProperty({ description: 'End of the range', example: exampleTime })
  until!: string;

  @ApiProperty({ type: 'integer', description: 'Events per second', example: defaultRate })
  rate!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Name of the live connections that receive the replay. Null: all connections',
    example: null,
  })
  connection!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Number of events sent, or skipped because they were erased',
    example: 412,
  })
  replayed!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The replay has sent the matching events that were created until this time; `until` when the status is `done`. Null before the first progress',
    example: '2026-11-21T06:47:12+0000',
  })
  replayed_until!: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'Progress through the time range in percent; 100 when the status is `done`',
    example: 28,
  })
  percent!: number;

  @ApiProperty({ description: 'When the replay started', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When the replay ended. Null while it is running',
    example: null,
  })
  finished!: string | null;

  @ApiProperty({ description: 'User name of the owner who started the replay', example: 'admin' })
  created_by!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the replay failed. Null if it did not fail',
    example: null,
  })
  error!: string | null;
}

/** Converts a body into an order. `now` is the default and the maximum of `until`. */
export function toReplayOrder(body: ReplayBody, createdBy: string, now = Date.now()): ReplayOrder {
  const { since, until, rate = defaultRate, connection = null } = body;
  // No event is older than 1970, so the range begins in 1970 at the earliest.
  const start = Math.max(readTime(since) ?? 0, 0);
  const filters = textFilters.flatMap(({ name }) => (body[name] ? [[name, body[name]]] : []));
  return {
    filters: Object.fromEntries(filters) as ReplayedFilters, // Safe cast: the names are those of text filters.
    since: new Date(start),
    until: new Date(Math.max(Math.min(toTime(until) ?? now, now), start)),
    rate,
    connectionName: connection,
    createdBy,
  };
}

export function toReplayRecord(replay: Replay): ReplayRecord {
  const { id, status, filters, rate, replayed, error } = replay;
  const reachedAt = reachedTime(replay);
  return {
    id,
    status,
    ...filters,
    since: printTime(replay.since.getTime()),
    until: printTime(replay.until.getTime()),
    rate,
    connection: replay.connectionName,
    replayed,
    replayed_until: printTimeOrNull(reachedAt),
    percent: percentOf(replay, reachedAt),
    created: printTime(replay.createdAt.getTime()),
    finished: printTimeOrNull(replay.endedAt?.getTime() ?? null),
    created_by: replay.createdBy,
    error,
  };
}

function reachedTime({ status, until, position }: Replay): number | null {
  if (status === 'done') return until.getTime();
  return position === null ? null : receivedAt(position);
}

function percentOf({ since, until }: Replay, reachedAt: number | null): number {
  const [from, to] = [since.getTime(), until.getTime()];
  if (reachedAt === null) return 0;
  return to === from ? 100 : Math.floor((100 * (reachedAt - from)) / (to - from));
}

function IsRate(): PropertyDecorator {
  return satisfies(
    'isRate',
    `must be a whole number from 1 to ${maxRate}`,
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxRate,
  );
}

function ConnectionField(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      required: false,
      type: String,
      nullable: true,
      minLength: 1,
      maxLength: maxConnectionNameLength,
      default: null,
      description:
        'Only live connections with this name receive the replay. Leading and trailing spaces are removed. Null: all connections',
      example: 'alerts-overlay',
    }),
    Trimmed(),
    MayBeAbsent(),
    IsConnectionName(),
  );
}

function IsConnectionName(): PropertyDecorator {
  return satisfies(
    'isConnectionName',
    `must be null or text of 1 to ${maxConnectionNameLength} characters (no NUL character, no unpaired surrogate)`,
    (value) => value === null || isTextWithin(value, 1, maxConnectionNameLength),
  );
}
