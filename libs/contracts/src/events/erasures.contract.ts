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

/** An erasure of one platform user, or a dry run of one. */
export class ErasureMessage {
  @IsUUID('all')
  id!: string;

  /** Null when the erasure has ended, because the id is erased too. */
  @IsOptional()
  @IsString()
  platformUserId!: string | null;

  /** The keyed hash of the id. It is kept, so that the erasure can be repeated after a backup is restored. */
  @Matches(userHashPattern)
  userHash!: string;

  @IsBoolean()
  isDryRun!: boolean;

  @IsIn(erasureStages)
  stage!: ErasureStage;

  /** How far the stage is, from 0 to 1. */
  @IsNumber()
  progress!: number;

  /** The records found so far. They are also erased, except in a dry run. */
  @IsObject()
  counts!: ErasureCounts;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  @IsOptional()
  @IsInt()
  endedAt!: number | null;

  /** Why the last attempt to continue failed. Null after a success. */
  @IsOptional()
  @IsString()
  error!: string | null;
}

/** Names the user by the id, or by the hash of an earlier erasure. */
export class CreateErasureRequest {
  @IsOptional()
  @IsText(1, 255)
  platformUserId?: string;

  /** Without an id: see `ErasureMessage`. */
  @IsOptional()
  @Matches(userHashPattern)
  userHash?: string;

  @IsBoolean()
  isDryRun!: boolean;
}

/** Begins an erasure, which runs in the background. `invalid`: names no user. `conflict`: too many erasures wait already. */
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

/** A user whose events must leave the memory of every process. */
export class ErasedUserMessage {
  /** The id of the erasure. */
  @IsUUID('all')
  id!: string;

  /** See `UserHasher`. */
  @IsString()
  userHash!: string;

  /** Events that were received until then are erased. Milliseconds since 1970. */
  @IsInt()
  until!: number;

  /** Whether the store and the streams no longer have the events. */
  @IsBoolean()
  isGone!: boolean;
}

export class ListErasedUsersRequest {
  /** Milliseconds since 1970. Without it, the reply has only the erasures that are running. */
  @IsOptional()
  @IsInt()
  @Min(0)
  endedSince?: number;
}

/** A key that hashes the ids of erased users. */
export class SealedUserHashKey {
  @IsUUID('all')
  id!: string;

  /** In base64, encrypted with `SECRET_KEY` and bound to the id: no one who listens on NATS can use the key. */
  @IsString()
  keyEncrypted!: string;
}

export class ListErasedUsersReply {
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ErasedUserMessage)
  users!: ErasedUserMessage[];

  /** The time of the reply by the database's clock, in milliseconds since 1970. */
  @IsInt()
  now!: number;

  /** The keys of the hashes. Missing from an events service of an earlier version, which derives the keys from `SECRET_KEY`. */
  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SealedUserHashKey)
  hashKeys?: SealedUserHashKey[];
}

/** Lists the users of the erasures that are running, or that ended since a time. Dry runs are not included. */
export const listErasedUsers = defineContract({
  subject: 'request.events.list-erased-users',
  request: ListErasedUsersRequest,
  reply: ListErasedUsersReply,
  errors: [],
  timeoutMs: 2_000,
});

/** A range of sequences of the EVENTS stream, both inclusive. */
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
  /** Whether erasures removed every message of the range. */
  @IsBoolean()
  wereErased!: boolean;
}

/** Returns whether erasures removed all messages of a range of the EVENTS stream. Then a client without them has missed nothing. */
export const wereMessagesErased = defineContract({
  subject: 'request.events.were-messages-erased',
  request: WereMessagesErasedRequest,
  reply: WereMessagesErasedReply,
  errors: [],
  timeoutMs: 2_000,
});
