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

/** Maximum number of users or streams per lookup. */
export const maxLookUp = 100;

/**
 * `interactive`: a person waits for the reply. `background`: the lookup leaves a part of the rate budget and of the concurrent calls to
 * interactive lookups.
 */
export const lookUpPriorities = ['interactive', 'background'] as const;
export type LookUpPriority = (typeof lookUpPriorities)[number];

/** A platform user. */
export class PlatformUserMessage {
  @IsString()
  id!: string;

  /** Name in lowercase. It is unique on the platform but can change. */
  @IsString()
  login!: string;

  @IsString()
  displayName!: string;
}

/** Names users by id, login, or both: at most 100 in total. */
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
  /** In no particular order. Users that do not exist or were deleted are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformUserMessage)
  users!: PlatformUserMessage[];
}

/** Looks up platform users. `unavailable`: the platform did not respond in time. */
export const lookUpUsers = defineContract({
  subject: 'request.platform-connector.look-up-users',
  request: LookUpUsersRequest,
  reply: LookUpUsersReply,
  errors: ['invalid'],
  // An interactive caller has 4.5 s in total.
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

  /** Contains the literal placeholders `{width}` and `{height}`. */
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
  /** Streams of the users who are live. Other users are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformStreamMessage)
  streams!: PlatformStreamMessage[];

  /**
   * When the platform was called, in milliseconds since 1970. The platform replies from a cache, so its data can be one or two minutes
   * older.
   */
  @IsInt()
  askedAt!: number;
}

/** Looks up which of these users are live: one call, with the priority `background`. `unavailable`: the platform did not respond. */
export const lookUpStreams = defineContract({
  subject: 'request.platform-connector.look-up-streams',
  request: LookUpStreamsRequest,
  reply: LookUpStreamsReply,
  errors: ['invalid'],
  timeoutMs: 15_000,
});
