import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  IsUUID,
  Min,
  ValidateNested,
} from 'class-validator';
import { IsText } from '../text.js';
import { defineReadContract } from './read-limits.js';

/** The maximum number of event types in a summary. The types with the most events are listed. */
export const maxSummaryTypes = 200;
/** The maximum number of givers, cheerers, raids per direction, and subscription tiers in a summary. */
export const maxSummaryTops = 10;

export class SummarizeStreamRequest {
  /** The `id` of the stream. */
  @IsUUID('all')
  streamId!: string;

  /** The platform's id of the streamer. */
  @IsText(1, 255)
  channelId!: string;

  /** Milliseconds since 1970. */
  @IsInt()
  @Min(0)
  startedAt!: number;

  /** Milliseconds since 1970; null while the stream is running. */
  @IsOptional()
  @IsInt()
  @Min(0)
  endedAt!: number | null;
}

/** The number of events of one type. */
export class TypeCount {
  @IsString()
  eventType!: string;

  @IsInt()
  count!: number;
}

/** The subscriptions of one tier. */
export class TierCount {
  /** As the platform names it. */
  @IsString()
  tier!: string;

  /** New subscriptions that the subscriber paid. */
  @IsInt()
  new!: number;

  /** New subscriptions that were gifts. */
  @IsInt()
  gifted!: number;

  @IsInt()
  renewed!: number;
}

/** A user with the sum of what the user gave. */
export class TopUser {
  @IsString()
  userId!: string;

  /** The latest name; null when the events do not name the user. */
  @IsOptional()
  @IsString()
  userName!: string | null;

  @IsInt()
  total!: number;
}

/** Gifts or bits. */
export class GivenTotal {
  @IsInt()
  total!: number;

  /** The part of the total that came from anonymous users. */
  @IsInt()
  anonymous!: number;

  /** The users who gave most, largest sum first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TopUser)
  top!: TopUser[];
}

/** A raid, from the view of the summarized stream. */
export class SummarizedRaid {
  /** Milliseconds since 1970. */
  @IsInt()
  at!: number;

  /** The other channel. */
  @IsOptional()
  @IsString()
  channelId!: string | null;

  @IsOptional()
  @IsString()
  channelName!: string | null;

  @IsInt()
  viewers!: number;
}

/** The raids of one direction. */
export class RaidTotal {
  @IsInt()
  count!: number;

  /** The viewers of all raids together. */
  @IsInt()
  viewers!: number;

  /** The raids with the most viewers, the largest first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SummarizedRaid)
  top!: SummarizedRaid[];
}

/** The totals of a stream's events. */
export class StreamSummaryMessage {
  /** Whether retention has removed a part of the stream's events. */
  @IsBoolean()
  isPartial!: boolean;

  /** The number of events of all types. */
  @IsInt()
  events!: number;

  /** Most events first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTypes)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TypeCount)
  eventTypes!: TypeCount[];

  @IsInt()
  followers!: number;

  /** The tiers with the most subscriptions first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TierCount)
  tiers!: TierCount[];

  @IsObject()
  @ValidateNested()
  @Type(() => GivenTotal)
  gifts!: GivenTotal;

  @IsObject()
  @ValidateNested()
  @Type(() => GivenTotal)
  bits!: GivenTotal;

  @IsObject()
  @ValidateNested()
  @Type(() => RaidTotal)
  incomingRaids!: RaidTotal;

  @IsObject()
  @ValidateNested()
  @Type(() => RaidTotal)
  outgoingRaids!: RaidTotal;

  @IsInt()
  chatMessages!: number;

  /** The number of users who wrote the messages. */
  @IsInt()
  chatters!: number;
}

/**
 * Summarizes the events of the platform and of clients (not tests) that concern a channel and happened during a stream. The
 * summary of a stream that has ended is saved, and computed again when its events or its times have changed.
 */
export const summarizeStream = defineReadContract({
  subject: 'request.events.summarize-stream',
  request: SummarizeStreamRequest,
  reply: StreamSummaryMessage,
  errors: [],
  // The summary of a stream with millions of events takes seconds.
  timeoutMs: 10_000,
});
