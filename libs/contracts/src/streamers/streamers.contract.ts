import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  isUUID,
  IsUUID,
  Matches,
  ValidateNested,
} from 'class-validator';
import { defineContract } from '../contract.js';
import { ServiceError } from '../errors.js';
import { isJsonObject } from '../json-object.js';
import { IsText } from '../text.js';

/** Rule for platform user names. */
export const platformUsername = {
  pattern: /^\w{1,64}$/,
  fault: 'must be 1 to 64 letters, digits and underscores',
};

/** A monitored streamer. */
export class StreamerMessage {
  /** UUIDv7, so ids sort by creation time. */
  @IsUUID('all')
  id!: string;

  @IsString()
  platformUsername!: string;

  /** The user's id on the platform. It survives a change of the user name. */
  @IsString()
  platformId!: string;

  @IsBoolean()
  streaming!: boolean;

  @IsBoolean()
  disabled!: boolean;

  /** Milliseconds since 1970. */
  @IsInt()
  createdAt!: number;

  /** Milliseconds since 1970. */
  @IsInt()
  updatedAt!: number;
}

export class ListStreamersRequest {
  /** The page starts after this id. Default: the first page. */
  @IsOptional()
  @IsUUID('all')
  after?: string;
}

export class ListStreamersReply {
  /** Oldest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StreamerMessage)
  streamers!: StreamerMessage[];

  /** The next page starts after this id; null at the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** Lists a page of at most 1,000 streamers. The reply must fit into one message (1 MiB). */
export const listStreamers = defineContract({
  subject: 'request.streamer-monitor.list-streamers',
  request: ListStreamersRequest,
  reply: ListStreamersReply,
  errors: [],
  timeoutMs: 5_000,
  parseReply: parseListStreamersReply,
});

/**
 * Checks a reply by hand. The decorators of `ListStreamersReply` would block the gateway for 30 ms per page, and one client request reads
 * all pages.
 */
export function parseListStreamersReply(message: unknown): ListStreamersReply {
  if (!isJsonObject(message) || !Array.isArray(message.streamers))
    throw ServiceError.onField('streamers', 'must be a list');
  const { streamers, next = null } = message;
  if (next !== null && !isId(next)) throw ServiceError.onField('next', 'must be a UUID or null');
  return { streamers: streamers.map(parseStreamer), next };
}

function parseStreamer(value: unknown, index: number): StreamerMessage {
  const fault = (field: string, message: string): ServiceError =>
    ServiceError.onField(`streamers.${index}.${field}`, message);
  if (!isJsonObject(value)) throw ServiceError.onField(`streamers.${index}`, 'must be an object');
  const { id, platformUsername: name, platformId, streaming, disabled, createdAt, updatedAt } = value;
  if (!isId(id)) throw fault('id', 'must be a UUID');
  if (typeof name !== 'string') throw fault('platformUsername', 'must be text');
  if (typeof platformId !== 'string') throw fault('platformId', 'must be text');
  if (typeof streaming !== 'boolean') throw fault('streaming', 'must be true or false');
  if (typeof disabled !== 'boolean') throw fault('disabled', 'must be true or false');
  if (!isInteger(createdAt)) throw fault('createdAt', 'must be a whole number');
  if (!isInteger(updatedAt)) throw fault('updatedAt', 'must be a whole number');
  return { id, platformUsername: name, platformId, streaming, disabled, createdAt, updatedAt };
}

function isId(value: unknown): value is string {
  return isUUID(value, 'all');
}

function isInteger(value: unknown): value is number {
  return Number.isInteger(value);
}

export class CreateStreamerRequest {
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platformUsername!: string;

  /** Whether the caller assumes that the streamer is live. Applies until the platform reports the actual state. */
  @IsBoolean()
  streaming!: boolean;

  @IsBoolean()
  disabled!: boolean;
}

/**
 * Starts monitoring a streamer. `invalid` (on `platform_username`): the platform does not know the name. `conflict`: the streamer is
 * already monitored. Stores nothing if the reply cannot arrive within the time limit.
 */
export const createStreamer = defineContract({
  subject: 'request.streamer-monitor.create-streamer',
  request: CreateStreamerRequest,
  reply: StreamerMessage,
  errors: ['invalid', 'conflict'],
  // The API promises a 503 within 5 s if the platform does not respond.
  timeoutMs: 4_500,
});

/** Names a streamer. */
export class StreamerRequest {
  @IsUUID('all')
  id!: string;
}

/** Returns a streamer. */
export const getStreamer = defineContract({
  subject: 'request.streamer-monitor.get-streamer',
  request: StreamerRequest,
  reply: StreamerMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** Fields that are missing stay unchanged. */
export class UpdateStreamerRequest extends StreamerRequest {
  /** The same user's new name on the platform. */
  @IsOptional()
  @Matches(platformUsername.pattern, { message: platformUsername.fault })
  platformUsername?: string;

  @IsOptional()
  @IsBoolean()
  streaming?: boolean;

  @IsOptional()
  @IsBoolean()
  disabled?: boolean;
}

/**
 * Changes a streamer. A disabled streamer is not monitored but keeps its history. `invalid` (on `platform_username`): the name belongs to
 * another user or to nobody.
 */
export const updateStreamer = defineContract({
  subject: 'request.streamer-monitor.update-streamer',
  request: UpdateStreamerRequest,
  reply: StreamerMessage,
  errors: ['not_found', 'invalid'],
  timeoutMs: 4_500,
});

export class DeleteStreamerReply {
  /** Id of the deleted streamer. */
  @IsUUID('all')
  id!: string;
}

/** Stops monitoring a streamer and deletes its streams. */
export const deleteStreamer = defineContract({
  subject: 'request.streamer-monitor.delete-streamer',
  request: StreamerRequest,
  reply: DeleteStreamerReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

export class EraseStreamerRequest {
  @IsText(1, 255)
  platformUserId!: string;

  /** Counts the rows without deleting them. */
  @IsBoolean()
  isDryRun!: boolean;
}

/** Numbers of rows about the user, by kind; all 0 if there is no such streamer. */
export class EraseStreamerReply {
  @IsInt()
  streamers!: number;

  @IsInt()
  streams!: number;

  @IsInt()
  streamSamples!: number;
}

/** For an erasure: stops monitoring a user, and deletes the user's streams, samples, and chosen event types. */
export const eraseStreamer = defineContract({
  subject: 'request.streamer-monitor.erase-streamer',
  request: EraseStreamerRequest,
  reply: EraseStreamerReply,
  errors: [],
  timeoutMs: 10_000,
});

/** Maximum number of users on a page of `listMonitored`. */
export const maxMonitoredPage = 5_000;

export class ListMonitoredReply {
  /** Platform ids of the enabled streamers, in the order in which the streamers were added. */
  @IsArray()
  @ArrayMaxSize(maxMonitoredPage)
  @IsString({ each: true })
  platformIds!: string[];

  /** The next page starts after the streamer with this id; null at the end. */
  @IsOptional()
  @IsUUID('all')
  next!: string | null;
}

/** Lists a page of the enabled streamers. The service keeps subscriptions on the platform for them. */
export const listMonitored = defineContract({
  subject: 'request.streamer-monitor.list-monitored',
  request: ListStreamersRequest,
  reply: ListMonitoredReply,
  errors: [],
  timeoutMs: 5_000,
});
