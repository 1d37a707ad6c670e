import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import {
  erasedKinds,
  erasureStages,
  IsText,
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

/** Body of `POST /api/v1/erasures`. Rejects unknown fields, because a misspelled `dry_run` would erase. */
@RefusesUnknownFields([])
export class ErasureBody {
  @ApiProperty({
    required: false,
    description:
      'Required without `user_hash`. The id of the user on the platform. Matches exactly, as the value of every field `user_id` or `*_user_id`',
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
      'The `user_hash` of an earlier erasure, instead of `platform_user_id`: erases the same user again, after a backup was restored',
    pattern: userHashPattern.source,
    example: exampleHash,
  })
  @MayBeAbsent()
  @Matches(userHashPattern, { message: 'must be the `user_hash` of an erasure' })
  user_hash?: string;

  @ApiProperty({
    required: false,
    default: false,
    description: 'Only count what an erasure would erase',
    example: true,
  })
  @MayBeAbsent()
  @IsBoolean({ message: 'must be true or false' })
  dry_run?: boolean;
}

/** The number of records of one kind. */
export class ErasureCountRecord {
  @ApiProperty({ description: 'The number of records that name the user', example: 1204 })
  total!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      'The number of records by the field that names the user. A record that names the user in two fields counts in both. ' +
      'Empty for streamers and streams',
    example: { user_id: 1190, moderator_user_id: 20 },
  })
  fields!: Record<string, number>;
}

/** An erasure in the API. */
export class ErasureRecord {
  @ApiProperty({ format: 'uuid', description: 'The id of the erasure', example: exampleId })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null when the erasure has ended: the id is erased too',
    example: '12826',
  })
  platform_user_id!: string | null;

  @ApiProperty({
    description:
      'A keyed hash of the id, which stays. With it, the erasure can be repeated after a backup was restored',
    example: exampleHash,
  })
  user_hash!: string;

  @ApiProperty({ description: 'Whether records are only counted', example: false })
  dry_run!: boolean;

  @ApiProperty({
    enum: ['running', 'done'],
    description: '`running` until everything is erased. Erasures run one after the other',
    example: 'running',
  })
  status!: 'running' | 'done';

  @ApiProperty({
    enum: erasureStages,
    description: 'The part of the service that is being searched. The stages have this order',
    example: 'store',
  })
  stage!: ErasureStage;

  @ApiProperty({ minimum: 0, maximum: 1, description: 'How far the stage is', example: 0.4 })
  progress!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { $ref: getSchemaPath(ErasureCountRecord) },
    description:
      'What was found until now, and erased unless this is a dry run, by kind: ' +
      `${erasedKinds.map((kind) => `\`${kind}\``).join(', ')}. Leaves out the kinds without such records`,
    example: { events: { total: 1204, fields: { user_id: 1190, moderator_user_id: 20 } } },
  })
  counts!: ErasureCounts;

  @ApiProperty({ description: 'Time of the request, UTC, to the second', example: exampleTime })
  created!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Time of the end, UTC, to the second. Null while the erasure is running',
    example: exampleTime,
  })
  ended!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Why the last attempt to continue failed. The service retries. Null after a success',
    example: null,
  })
  error!: string | null;
}

/** Converts an erasure to its form in the API. */
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
