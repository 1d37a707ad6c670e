import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  erasedKinds,
  erasureStages,
  IsText,
  namedUserKeys,
  type ErasureCounts,
  type ErasureMessage,
  type ErasureStage,
  userHashPattern,
} from '@stream-events/contracts';
import { IsBoolean, Matches } from 'class-validator';
import { MayBeAbsent, RefusesUnknownFields } from '../http/json-body.decorator.js';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

const exampleHash = '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8';
const exampleId = '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11';

/** Body of `POST /api/v1/erasures`. Rejects unknown fields: a misspelled `dry_run` would start a real erasure. */
@RefusesUnknownFields([])
export class ErasureBody {
  @ApiProperty({
    required: false,
    description:
      'The id of the user on the platform. Required without `user_hash`. Erases records in which one of these fields has exactly this value: ' +
      namedUserKeys.map((key) => `\`${key}\``).join(', '),
    minLength: 1,
    maxLength: 255,
    example: '12826',
  })
  @MayBeAbsent()
  @IsText(1, 255)
  platform_user_id?: string;

  @ApiProperty({
    required: false,
    description:
      'The `user_hash` of an earlier erasure. Send it instead of `platform_user_id` to erase the same user again after you have restored a backup',
    pattern: userHashPattern.source,
    example: exampleHash,
  })
  @MayBeAbsent()
  @Matches(userHashPattern, { message: 'must be the `user_hash` of an erasure' })
  user_hash?: string;

  @ApiProperty({
    required: false,
    default: false,
    description: 'Whether to only count the records that an erasure would erase',
    example: true,
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  dry_run?: boolean;
}

/** How many records of one kind the erasure affects. */
export class ErasureCountRecord {
  @ApiProperty({ description: 'The number of records that name the user', example: 1204 })
  total!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      'The number of records for each field that names the user. A record that names the user in two fields counts for both fields. ' +
      'Empty for streamers and streams',
    example: { user_id: 1190, moderator_user_id: 20 },
  })
  fields!: Record<string, number>;
}

/** An erasure as the API returns it. */
export class ErasureRecord {
  @ApiProperty({ format: 'uuid', description: 'The id of the erasure', example: exampleId })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'The id of the user on the platform. Null if you sent `user_hash`, and after the erasure has ended, because the id is erased too',
    example: '12826',
  })
  platform_user_id!: string | null;

  @ApiProperty({
    description:
      'A keyed hash of the user’s id. The service keeps the hash, so that you can repeat the erasure after you restore a backup',
    example: exampleHash,
  })
  user_hash!: string;

  @ApiProperty({ description: 'Whether the erasure only counts the records', example: false })
  dry_run!: boolean;

  @ApiProperty({
    enum: ['running', 'done'],
    description: '`running` until the erasure has ended, even while it waits for earlier erasures',
    example: 'running',
  })
  status!: 'running' | 'done';

  @ApiProperty({
    enum: erasureStages,
    description: 'The current stage. The stages run in the order of this list',
    example: 'store',
  })
  stage!: ErasureStage;

  @ApiProperty({ minimum: 0, maximum: 1, description: 'The progress of the current stage', example: 0.4 })
  progress!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ErasureCountRecord) },
    description:
      'Number of records found so far (and erased, unless this is a dry run), by kind: ' +
      `${erasedKinds.map((kind) => `\`${kind}\``).join(', ')}. Omits kinds without records`,
    example: { events: { total: 1204, fields: { user_id: 1190, moderator_user_id: 20 } } },
  })
  counts!: ErasureCounts;

  @ApiProperty({ description: 'Time of the request, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Time when the erasure ended, UTC, to the second. Null while the erasure is running',
    example: exampleTime,
  })
  ended!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Why the last attempt to continue failed. The service retries automatically. Null after a successful attempt',
    example: null,
  })
  error!: string | null;
}

export function toErasureRecord(erasure: ErasureMessage): ErasureRecord {
  return {
    id: erasure.id,
    platform_user_id: erasure.platformUserId,
    user_hash: erasure.userHash,
    dry_run: erasure.isDryRun,
    status: erasure.stage === 'done' ? 'done' : 'running',
    stage: erasure.stage,
    progress: erasure.progress,
    counts: erasure.counts,
    created: printTime(erasure.createdAt),
    ended: printTimeOrNull(erasure.endedAt),
    error: erasure.error,
  };
}
