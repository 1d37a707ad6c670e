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
 * Whether a person waits for the reply. Background lookups leave a part of the platform's rate budget to interactive lookups, and the
 * service retries them for longer.
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

/** Identifies users by id, by login, or both: at most 100 in total. */
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
  /** In no particular order. Omits users that do not exist or were deleted. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformUserMessage)
  users!: PlatformUserMessage[];
}

/** Looks up users on the platform. `unavailable` when the platform does not respond in time. */
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
  /** The streams of the users who are live. Omits all other users. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformStreamMessage)
  streams!: PlatformStreamMessage[];

  /**
   * The time of the call to the platform, in milliseconds since 1970. The platform's data can be one or two minutes older, because the
   * platform replies from a cache.
   */
  @IsInt()
  askedAt!: number;
}

/** Looks up which of these users are live, in the background, with one call. `unavailable` when the platform does not respond. */
export const lookUpStreams = defineContract({
  subject: 'request.platform-connector.look-up-streams',
  request: LookUpStreamsRequest,
  reply: LookUpStreamsReply,
  errors: ['invalid'],
  timeoutMs: 15_000,
});
