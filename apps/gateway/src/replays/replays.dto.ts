import { ApiProperty, OmitType } from '@nestjs/swagger';
import { isTextWithin, receivedAt, replayOrigin, textFilters } from '@stream-events/contracts';
import { ValidateBy, type ValidationArguments } from 'class-validator';
import { EventFilterField } from '../events/event-filter-parameters.js';
import { EventRecord } from '../events/events.dto.js';
import { MayBeAbsent, RefusesUnknownFields, Trimmed } from '../http/json-body.decorator.js';
import { exampleTime, printTime, printTimeOrNull, readTime, timeFault } from '../http/time.js';
import { replayStatuses, type Replay, type ReplayedFilters, type ReplayStatus } from './replay.entity.js';
import type { ReplayOrder } from './replays.repository.js';
import { maxConnectionNameLength } from '../live/live-limits.js';

const defaultRate = 20;
const maxRate = 1_000;

/** What a record says of a replay beyond what was asked for. */
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

/** An event that goes out again. */
export class ReplayedEventRecord extends OmitType(EventRecord, ['origin']) {
  @ApiProperty({ enum: [replayOrigin], description: 'Whatever it was before', example: replayOrigin })
  origin!: typeof replayOrigin;
}

const FilterFields: new () => ReplayedFilters = class {};
for (const { name } of textFilters) EventFilterField(name)(FilterFields.prototype as object, name); // holds: classes have one

/** The filters of a replay. An event of the range is replayed when it matches all of them. */
export class ReplayFilters extends FilterFields {}

/** Body of `POST /api/v1/replays`: not even a field's name may be wrong, as without its filter everybody got everything. */
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
    description: 'Events created before this ISO 8601 time; now by default, and at the latest',
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
    description: 'Events a second',
    example: defaultRate,
  })
  @MayBeAbsent()
  @IsRate()
  rate?: number;

  @ApiProperty({
    required: false,
    type: String,
    nullable: true,
    minLength: 1,
    maxLength: maxConnectionNameLength,
    default: null,
    description: 'Only the live connections of this name get it; trimmed. Null: all get it',
    example: 'alerts-overlay',
  })
  @Trimmed()
  @MayBeAbsent()
  @IsConnectionName()
  connection?: string | null;
}

/**
 * A replay of a range, as the API shows one. What was asked for it says by the names of the body: one that is sent once more
 * is the same replay, whose filters do not get lost on the way.
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
    description: '`running` also while it waits for a part of the service that is down',
    example: 'running',
  })
  status!: ReplayStatus;

  @ApiProperty({ description: 'Where the range begins', example: '2026-11-21T06:30:00+0000' })
  since!: string;

  @ApiProperty({ description: 'Where the range ends', example: exampleTime })
  until!: string;

  @ApiProperty({ type: 'integer', description: 'Events a second', example: defaultRate })
  rate!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The live connections that get it; null: all',
    example: null,
  })
  connection!: string | null;

  @ApiProperty({ type: 'integer', description: 'How many events went out', example: 412 })
  replayed!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The time up to which events have gone out; null before the first',
    example: '2026-11-21T06:47:12+0000',
  })
  replayed_until!: string | null;

  @ApiProperty({
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'How much of the range’s time has been covered; 100 when it is done',
    example: 28,
  })
  percent!: number;

  @ApiProperty({ description: 'When it was begun', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'When it ended; null while it runs',
    example: null,
  })
  finished!: string | null;

  @ApiProperty({ description: 'User name of the owner who began it', example: 'admin' })
  created_by!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Why it failed', example: null })
  error!: string | null;
}

/** What a body asks for, begun at `now`. */
export function toReplayOrder(body: ReplayBody, createdBy: string, now = Date.now()): ReplayOrder {
  const { since, until, rate = defaultRate, connection = null } = body;
  const filters = textFilters.flatMap(({ name }) => (body[name] ? [[name, body[name]]] : []));
  return {
    filters: Object.fromEntries(filters) as ReplayedFilters, // holds: of these names
    // No event is older than 1970.
    since: new Date(Math.max(readTime(since) ?? 0, 0)),
    until: new Date(Math.min(toTime(until) ?? now, now)),
    rate,
    connectionName: connection,
    createdBy,
  };
}

/** Shows a replay as the API does. */
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
  return reachedAt === null ? 0 : Math.floor((100 * (reachedAt - from)) / (to - from));
}

function IsTime(): PropertyDecorator {
  return satisfies('isTime', timeFault, (value) => toTime(value) !== undefined);
}

/** Wants something to be between a time and the body's `until`, or now; what is no time is another fault. */
function IsBeforeUntil(): PropertyDecorator {
  return satisfies('isBeforeUntil', 'must be in the past, and before until', (value, body) => {
    const now = Date.now();
    return (toTime(value) ?? -Infinity) < Math.min(toTime(body.until) ?? now, now);
  });
}

function IsRate(): PropertyDecorator {
  return satisfies(
    'isRate',
    `must be a whole number from 1 to ${maxRate}`,
    (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxRate,
  );
}

function IsConnectionName(): PropertyDecorator {
  return satisfies(
    'isConnectionName',
    `must be null or text of 1 to ${maxConnectionNameLength} characters (no NUL character, no half of a surrogate pair)`,
    (value) => value === null || isTextWithin(value, 1, maxConnectionNameLength),
  );
}

function satisfies(
  name: string,
  fault: string,
  check: (value: unknown, body: Partial<ReplayBody>) => boolean,
): PropertyDecorator {
  const validate = (value: unknown, validation?: ValidationArguments): boolean =>
    check(value, validation?.object ?? {});
  return ValidateBy({ name, validator: { validate, defaultMessage: () => fault } });
}

function toTime(value: unknown): number | undefined {
  return typeof value === 'string' ? readTime(value) : undefined;
}
