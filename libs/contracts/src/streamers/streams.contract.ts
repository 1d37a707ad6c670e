import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  ValidateNested,
} from 'class-validator';
import { defineContract, EmptyRequest } from '../contract.js';
import { CountedPageReply, PageRequest } from '../list-page.js';
import { PlatformStreamDetails } from '../platform/look-up.contract.js';
import { StreamerRequest } from './streamers.contract.js';

/** A stream of a monitored streamer. */
export class StreamMessage extends PlatformStreamDetails {
  /** UUIDv7 of `startedAt`, so ids sort by start time. */
  @IsUUID('all')
  id!: string;

  /** Id on the platform. */
  @IsString()
  streamId!: string;

  /** Milliseconds since 1970; null while the stream is running. */
  @IsOptional()
  @IsInt()
  endedAt!: number | null;
}

/** Requests a page of a streamer's streams. `position.id` is a stream's id. */
export class ListStreamsRequest extends PageRequest {
  @IsUUID('all')
  streamerId!: string;
}

export class ListStreamsReply extends CountedPageReply {
  /** Sorted by `startedAt`, newest first. */
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StreamMessage)
  streams!: StreamMessage[];
}

/** Lists a page of a streamer's streams. */
export const listStreams = defineContract({
  subject: 'request.streamer-monitor.list-streams',
  request: ListStreamsRequest,
  reply: ListStreamsReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** Returns a streamer's latest stream. `not_found`: the streamer does not exist or has no streams yet. */
export const getLatestStream = defineContract({
  subject: 'request.streamer-monitor.get-latest-stream',
  request: StreamerRequest,
  reply: StreamMessage,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** A stream's state at one moment. */
export class StreamSampleMessage {
  /** Milliseconds since 1970. */
  @IsInt()
  at!: number;

  @IsInt()
  viewerCount!: number;

  @IsString()
  title!: string;

  @IsString()
  gameId!: string;

  @IsString()
  gameName!: string;
}

/** Maximum number of samples in a history. Longer histories are thinned out evenly. */
export const maxStreamSamples = 1_000;

export class StreamHistoryRequest {
  @IsUUID('all')
  streamerId!: string;

  /** The stream's `id`. */
  @IsUUID('all')
  streamId!: string;
}

export class StreamHistoryReply {
  /** Oldest first. */
  @IsArray()
  @ArrayMaxSize(maxStreamSamples)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => StreamSampleMessage)
  samples!: StreamSampleMessage[];
}

/** Returns how a stream's title, category, and viewers changed over time. */
export const getStreamHistory = defineContract({
  subject: 'request.streamer-monitor.get-stream-history',
  request: StreamHistoryRequest,
  reply: StreamHistoryReply,
  errors: ['not_found'],
  timeoutMs: 5_000,
});

/** `none`: no rebuild was ever started. */
export const rebuildStates = ['none', 'running', 'done', 'failed'] as const;

/** Progress of the latest rebuild of streams from the event log. */
export class RebuildReply {
  @IsIn(rebuildStates)
  state!: (typeof rebuildStates)[number];

  @IsInt()
  streamersDone!: number;

  @IsInt()
  streamersTotal!: number;

  /** Streams that the rebuild added, changed, or removed. */
  @IsInt()
  streamsChanged!: number;

  /** Milliseconds since 1970. */
  @IsOptional()
  @IsInt()
  startedAt!: number | null;

  @IsOptional()
  @IsInt()
  endedAt!: number | null;

  /** Why the rebuild failed, or null. */
  @IsOptional()
  @IsString()
  error!: string | null;
}

/** Rebuilds the streams of all enabled streamers from the event log, in the background. Does nothing if a rebuild is already running. */
export const rebuildStreams = defineContract({
  subject: 'request.streamer-monitor.rebuild-streams',
  request: EmptyRequest,
  reply: RebuildReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Returns the progress of the latest rebuild. */
export const getRebuild = defineContract({
  subject: 'request.streamer-monitor.get-rebuild',
  request: EmptyRequest,
  reply: RebuildReply,
  errors: [],
  timeoutMs: 5_000,
});

/** Maximum number of users per `findLiveStreams` request. */
export const maxLiveStreams = 100;

export class FindLiveStreamsRequest {
  @IsArray()
  @ArrayMaxSize(maxLiveStreams)
  @IsString({ each: true })
  platformIds!: string[];
}

export class LiveStreamMessage {
  @IsString()
  platformId!: string;

  @IsString()
  platformUsername!: string;
}

export class FindLiveStreamsReply {
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => LiveStreamMessage)
  streams!: LiveStreamMessage[];
}

/** Returns the running streams of those users who are enabled streamers. */
export const findLiveStreams = defineContract({
  subject: 'request.streamer-monitor.find-live-streams',
  request: FindLiveStreamsRequest,
  reply: FindLiveStreamsReply,
  errors: [],
  timeoutMs: 5_000,
});
