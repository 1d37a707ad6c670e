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

/** The most users or streams that the platform looks up at once. */
export const maxLookUp = 100;

/**
 * Whether a person waits for the answer. What nobody waits for leaves a part of the platform's rate budget to those who do, and is tried
 * for longer.
 */
export const lookUpPriorities = ['interactive', 'background'] as const;
export type LookUpPriority = (typeof lookUpPriorities)[number];

/** A user of the platform. */
export class PlatformUserMessage {
  @IsString()
  id!: string;

  /** The name in lower case, unique on the platform; it may change. */
  @IsString()
  login!: string;

  @IsString()
  displayName!: string;
}

/** Names users by id, by login or both, at most 100 together. */
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
  /** In no order; users that do not exist, or not any more, are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformUserMessage)
  users!: PlatformUserMessage[];
}

/** Looks users up on the platform; `unavailable` when it does not answer in time. */
export const lookUpUsers = defineContract({
  subject: 'request.platform-connector.look-up-users',
  request: LookUpUsersRequest,
  reply: LookUpUsersReply,
  errors: ['invalid'],
  // A caller that a person waits for has 4.5 s in all.
  timeoutMs: 4_000,
});

/** What the platform says of a stream. */
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

/** A stream that is running. */
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
  /** Of those users who are live; the others are missing. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => PlatformStreamMessage)
  streams!: PlatformStreamMessage[];

  /** When the platform was asked, in milliseconds since 1970. It may answer from a cache that is a minute or two old. */
  @IsInt()
  askedAt!: number;
}

/** Looks up who of these users is live, in the background: one call of the platform. `unavailable` when it does not answer in time. */
export const lookUpStreams = defineContract({
  subject: 'request.platform-connector.look-up-streams',
  request: LookUpStreamsRequest,
  reply: LookUpStreamsReply,
  errors: ['invalid'],
  timeoutMs: 15_000,
});
