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

/** Keyed hash of a platform user's id (see `UserHasher`). */
export const userHashPattern = /^[0-9a-f]{64}$/;

/** Stages of an erasure, in order. A dry run skips `announcing`, `summaries`, and `caches`. */
export const erasureStages = [
  'announcing',
  'store',
  'summaries',
  'dead_letters',
  'ingest',
  'streamers',
  'connector',
  'gateway',
  'event_stream',
  'caches',
  'done',
] as const;
export type ErasureStage = (typeof erasureStages)[number];

/** Kinds of records that an erasure counts. */
export const erasedKinds = [
  'events',
  'dead_letters',
  'ingest_messages',
  'streamers',
  'streams',
  'stream_samples',
  'pictures',
  'replays',
  'rehearsals',
  'event_stream_messages',
] as const;
export type ErasedKind = (typeof erasedKinds)[number];

/** Number of records of one kind that name the user. */
export interface ErasureCount {
  total: number;
  /** Counts by the field that names the user. A record that names the user in two fields counts in both. */
  fields: Record<string, number>;
}

/** Counts by kind of record. A kind can be missing if its count is 0. */
export type ErasureCounts = Partial<Record<ErasedKind, ErasureCount>>;

/** An erasure of a platform user, or a dry run. */
export class ErasureMessage {
  @IsUUID('all')
  id!: string;

  /** Null if the request named the user by hash. When an erasure or a dry run ends, the service deletes the id, and this is null too. */
  @IsOptional()
  @IsString()
  platformUserId!: string | null;

  /** Keyed hash of the id. The service keeps it to repeat the erasure after a backup is restored. */
  @Matches(userHashPattern)
  userHash!: string;

  @IsBoolean()
  isDryRun!: boolean;

  @IsIn(erasureStages)
  stage!: ErasureStage;

  /** Progress of the current stage, from 0 to 1. */
  @IsNumber()
  progress!: number;

  /** Records found so far. An erasure deletes them; a dry run only counts them. */
  @IsObject()
  counts!: ErasureCounts;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  @IsOptional()
  @IsInt()
  endedAt!: number | null;

  /** Why the latest attempt failed; null if it did not fail. */
  @IsOptional()
  @IsString()
  error!: string | null;
}

/** Names the user by id, or by the hash from an earlier erasure. */
export class CreateErasureRequest {
  @IsOptional()
  @IsText(1, 255)
  platformUserId?: string;

  /** Names the user if `platformUserId` is missing (see `ErasureMessage.userHash`). */
  @IsOptional()
  @Matches(userHashPattern)
  userHash?: string;

  @IsBoolean()
  isDryRun!: boolean;
}

/** Starts an erasure in the background. `invalid`: the request names no user. `conflict`: too many erasures are waiting. */
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

/** Maximum number of erasures in a list. */
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

/** Tells every process to remove a user's events from memory. */
export class ErasedUserMessage {
  /** Id of the erasure. */
  @IsUUID('all')
  id!: string;

  /** See `UserHasher`. */
  @IsString()
  userHash!: string;

  /** The erasure covers events received up to this time, in milliseconds since 1970. */
  @IsInt()
  until!: number;

  /** True once the store and the streams no longer contain the user's events. */
  @IsBoolean()
  isGone!: boolean;
}

export class ListErasedUsersRequest {
  /** Also lists erasures that ended at or after this time, in milliseconds since 1970. Default: only running erasures. */
  @IsOptional()
  @IsInt()
  @Min(0)
  endedSince?: number;
}

/** The key for hashing the ids of erased users. */
export class SealedUserHashKey {
  @IsUUID('all')
  id!: string;

  /** The key's Base64 text, encrypted with `SECRET_KEY` and bound to `id`. An eavesdropper on NATS cannot decrypt the text. */
  @IsString()
  keyEncrypted!: string;
}

export class ListErasedUsersReply {
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ErasedUserMessage)
  users!: ErasedUserMessage[];

  /** Time of the reply by the database's clock, in milliseconds since 1970. */
  @IsInt()
  now!: number;

  @IsObject()
  @ValidateNested()
  @Type(() => SealedUserHashKey)
  hashKey!: SealedUserHashKey;
}

/**
 * Lists the users of erasures that are running or ended at or after `endedSince`, with the hash key and the database's time. Omits dry
 * runs.
 */
export const listErasedUsers = defineContract({
  subject: 'request.events.list-erased-users',
  request: ListErasedUsersRequest,
  reply: ListErasedUsersReply,
  errors: [],
  timeoutMs: 2_000,
});

/** A range of sequences on the EVENTS stream. `from` and `to` are inclusive. */
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
  /** Whether erasures deleted every message in the range. */
  @IsBoolean()
  wereErased!: boolean;
}

/**
 * Returns whether erasures deleted all messages in a range of the EVENTS stream. If so, a client without these messages has missed nothing.
 */
export const wereMessagesErased = defineContract({
  subject: 'request.events.were-messages-erased',
  request: WereMessagesErasedRequest,
  reply: WereMessagesErasedReply,
  errors: [],
  timeoutMs: 2_000,
});
