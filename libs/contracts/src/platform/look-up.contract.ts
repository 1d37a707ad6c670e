import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';

/** The maximum number of users or streams in one lookup on the platform. */
export const maxLookUp = 100;

/**
 * Whether a person waits for the reply. A background lookup leaves a part of the platform's rate budget to lookups that a person
 * waits for, and is retried for longer.
 */
export const lookUpPriorities = ['interactive', 'background'] as const;
export type LookUpPriority = (typeof lookUpPriorities)[number];

/** A user of the platform. */
export class PlatformUserMessage {
  @IsString()
  id!: string;

  /** The name in lower case. Unique on the platform, but it can change. */
  @IsString()
  login!: string;

  @IsString()
  displayName!: string;
}

/** Names users by id, by login, or both: at most 100 in total. */
export class LookUpUsersRequest {
  @IsArray()
  @ArrayMaxSize(maxLookUp)
  @IsString({ each: true })
  ids!: string[];

  @IsArray()
  @ArrayMaxSize(maxLookUp)
  @IsString({ each: true })
  logins!: string[];

  @IsIn(lookUpPriorities)
  priority!: LookUpPriority;
}

export class LookUpUsersReply {
  /** In no particular order. Users that do not exist (any longer) are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformUserMessage)
  users!: PlatformUserMessage[];
}

/** Looks up users on the platform. `unavailable` when the platform does not answer in time. */
export const lookUpUsers = defineContract({
  subject: 'request.platform-connector.look-up-users',
  request: LookUpUsersRequest,
  reply: LookUpUsersReply,
  errors: ['invalid'],
  // A caller for whom a person waits has 4.5 s in total.
  timeoutMs: 4_000,
});

/** The platform's data about a stream. */
export class PlatformStreamDetails {
  @IsString()
  userId!: string;

  @IsString()
  userLogin!: string;

  @IsString()
  userName!: string;

  @IsString()
  gameId!: string;

  @IsString()
  gameName!: string;

  @IsString()
  type!: string;

  @IsString()
  title!: string;

  @IsInt()
  viewerCount!: number;

  /** Milliseconds since 1970. */
  @IsInt()
  startedAt!: number;

  @IsString()
  language!: string;

  /** With the literal placeholders `{width}` and `{height}`. */
  @IsString()
  thumbnailUrl!: string;

  @IsOptional()
  @IsString()
  tagIds!: string | null;

  @IsBoolean()
  isMature!: boolean;
}

/** A running stream. */
export class PlatformStreamMessage extends PlatformStreamDetails {
  @IsString()
  id!: string;
}

export class LookUpStreamsRequest {
  @IsArray()
  @ArrayMaxSize(maxLookUp)
  @IsString({ each: true })
  userIds!: string[];
}

export class LookUpStreamsReply {
  /** The streams of the users who are live. The other users are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformStreamMessage)
  streams!: PlatformStreamMessage[];

  /** When the platform was asked, in milliseconds since 1970. Its reply may come from a cache that is one or two minutes old. */
  @IsInt()
  askedAt!: number;
}

/** Looks up which of these users are live, in the background, with one call. `unavailable` when the platform does not answer. */
export const lookUpStreams = defineContract({
  subject: 'request.platform-connector.look-up-streams',
  request: LookUpStreamsRequest,
  reply: LookUpStreamsReply,
  errors: ['invalid'],
  timeoutMs: 15_000,
});
