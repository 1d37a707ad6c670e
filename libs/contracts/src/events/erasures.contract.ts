import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Matches,
  Min,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';
import { IsText } from '../text.js';

/** A keyed hash of the id of a platform user; see `UserHasher`. */
export const userHashPattern = /^[0-9a-f]{64}$/;

/** The stages of an erasure, in order. A dry run leaves out `announcing`, `summaries`, and `caches`. */
export const erasureStages = [
  'announcing',
  'store',
  'summaries',
  'dead_letters',
  'ingest',
  'streamers',
  'event_stream',
  'caches',
  'done',
] as const;
export type ErasureStage = (typeof erasureStages)[number];

/** The kinds of records that an erasure counts. */
export const erasedKinds = [
  'events',
  'dead_letters',
  'ingest_messages',
  'streamers',
  'streams',
  'stream_samples',
  'event_stream_messages',
] as const;
export type ErasedKind = (typeof erasedKinds)[number];

/** The number of records of one kind that name the user. */
export interface ErasureCount {
  total: number;
  /** The number of records by the field that names the user. A record that names the user in two fields counts in both. */
  fields: Record<string, number>;
}

/** The number of records that name the user, by kind. A kind without such records may be missing. */
export type ErasureCounts = Partial<Record<ErasedKind, ErasureCount>>;

/** The erasure of a platform user, or a dry run of an erasure. */
export class ErasureMessage {
  @IsUUID('all')
  id!: string;

  /** Null when the erasure has ended, because the id is erased too, or when the request identified the user by the hash. */
  @IsOptional()
  @IsString()
  platformUserId!: string | null;

  /** The keyed hash of the id. The service keeps the hash so that the erasure can be repeated after a backup is restored. */
  @Matches(userHashPattern)
  userHash!: string;

  @IsBoolean()
  isDryRun!: boolean;

  @IsIn(erasureStages)
  stage!: ErasureStage;

  /** The progress of the current stage, from 0 to 1. */
  @IsNumber()
  progress!: number;

  /** The number of records found so far. An erasure deletes these records; a dry run only counts them. */
  @IsObject()
  counts!: ErasureCounts;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  @IsOptional()
  @IsInt()
  endedAt!: number | null;

  /** Why the latest attempt to continue the erasure failed; null when the latest attempt succeeded. */
  @IsOptional()
  @IsString()
  error!: string | null;
}

/** Identifies the user to erase, by the id or by the hash from an earlier erasure. */
export class CreateErasureRequest {
  @IsOptional()
  @IsText(1, 255)
  platformUserId?: string;

  /** Identifies the user when `platformUserId` is missing. See `ErasureMessage.userHash`. */
  @IsOptional()
  @Matches(userHashPattern)
  userHash?: string;

  @IsBoolean()
  isDryRun!: boolean;
}

/**
 * Starts an erasure, which runs in the background. `invalid`: the request identifies no user. `conflict`: too many erasures are already
 * waiting.
 */
export const createErasure = defineContract({
  subject: 'request.events.create-erasure',
  request: CreateErasureRequest,
  reply: ErasureMessage,
  errors: ['invalid', 'conflict'],
  timeoutMs: 5_000,
});

export class ErasureRequest {
  @IsUUID('all')
  id!: string;
}

/** Returns one erasure. */
export const getErasure = defineContract({
  subject: 'request.events.get-erasure',
  request: ErasureRequest,
  reply: ErasureMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** The maximum number of erasures in a list. */
export const maxListedErasures = 100;

export class ListErasuresReply {
  /** Newest first. */
  @IsArray()
  @ArrayMaxSize(maxListedErasures)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ErasureMessage)
  erasures!: ErasureMessage[];
}

/** Lists the newest erasures. */
export const listErasures = defineContract({
  subject: 'request.events.list-erasures',
  request: EmptyRequest,
  reply: ListErasuresReply,
  errors: [],
  timeoutMs: 5_000,
});

/** A user whose events every process must remove from memory. */
export class ErasedUserMessage {
  /** The id of the erasure. */
  @IsUUID('all')
  id!: string;

  /** See `UserHasher`. */
  @IsString()
  userHash!: string;

  /** The erasure covers the events received up to this time, in milliseconds since 1970. */
  @IsInt()
  until!: number;

  /** True when the store and the streams no longer contain the user's events. */
  @IsBoolean()
  isGone!: boolean;
}

export class ListErasedUsersRequest {
  /** Includes the erasures that ended at or after this time, in milliseconds since 1970. Default: only running erasures. */
  @IsOptional()
  @IsInt()
  @Min(0)
  endedSince?: number;
}

/** A key that hashes the ids of erased users. */
export class SealedUserHashKey {
  @IsUUID('all')
  id!: string;

  /** The key in base64, encrypted with `SECRET_KEY` and bound to `id`. An eavesdropper on NATS cannot use it. */
  @IsString()
  keyEncrypted!: string;
}

export class ListErasedUsersReply {
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ErasedUserMessage)
  users!: ErasedUserMessage[];

  /** The time of the reply, in milliseconds since 1970 by the database's clock. */
  @IsInt()
  now!: number;

  /** The keys that created the hashes. Older versions of the events service omit this field and derive their keys from `SECRET_KEY`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SealedUserHashKey)
  hashKeys?: SealedUserHashKey[];
}

/**
 * Lists the user of each erasure that is running or that ended at or after `endedSince`, with the hash keys and the database's current
 * time. Omits dry runs.
 */
export const listErasedUsers = defineContract({
  subject: 'request.events.list-erased-users',
  request: ListErasedUsersRequest,
  reply: ListErasedUsersReply,
  errors: [],
  timeoutMs: 2_000,
});

/** A range of sequences of the EVENTS stream, from `from` to `to`, both inclusive. */
export class WereMessagesErasedRequest {
  @Matches(/^[0-9a-f]{8}$/)
  epoch!: string;

  @IsInt()
  @Min(0)
  from!: number;

  @IsInt()
  @Min(0)
  to!: number;
}

export class WereMessagesErasedReply {
  /** Whether erasures removed every message in the range. */
  @IsBoolean()
  wereErased!: boolean;
}

/**
 * Returns whether erasures removed all messages in a range of the EVENTS stream. If so, a client that did not receive these messages has
 * missed nothing.
 */
export const wereMessagesErased = defineContract({
  subject: 'request.events.were-messages-erased',
  request: WereMessagesErasedRequest,
  reply: WereMessagesErasedReply,
  errors: [],
  timeoutMs: 2_000,
});
