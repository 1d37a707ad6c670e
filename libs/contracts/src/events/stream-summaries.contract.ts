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

/** The maximum number of event types in a summary. A summary contains the types with the most events. */
export const maxSummaryTypes = 200;
/** The maximum number of givers, cheerers, raids per direction, and subscription tiers in a summary. */
export const maxSummaryTops = 10;

export class SummarizeStreamRequest {
  /** The `id` of the stream. */
  @IsUUID('all')
  streamId!: string;

  /** The streamer's id on the platform. */
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
  /** The platform's name of the tier. */
  @IsString()
  tier!: string;

  /** The number of new subscriptions that the subscribers paid for. */
  @IsInt()
  new!: number;

  /** The number of new subscriptions that were gifts. */
  @IsInt()
  gifted!: number;

  @IsInt()
  renewed!: number;
}

/** A user with the total of the gifts or bits that the user gave. */
export class TopUser {
  @IsString()
  userId!: string;

  /** The user's name in the latest event that contains a name; null when no event contains a name. */
  @IsOptional()
  @IsString()
  userName!: string | null;

  @IsInt()
  total!: number;
}

/** The total of the gifts or bits that users gave. */
export class GivenTotal {
  @IsInt()
  total!: number;

  /** The part of the total that came from anonymous users. */
  @IsInt()
  anonymous!: number;

  /** The users who gave the most, largest total first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TopUser)
  top!: TopUser[];
}

/** A raid, from the perspective of the summarized stream. */
export class SummarizedRaid {
  /** Milliseconds since 1970. */
  @IsInt()
  at!: number;

  /** The other channel's id on the platform. */
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

  /** The total number of viewers of all raids. */
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
  /** Whether retention has removed some of the stream's events. */
  @IsBoolean()
  isPartial!: boolean;

  /** The number of events of all types. */
  @IsInt()
  events!: number;

  /** Sorted by the number of events, most first. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTypes)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TypeCount)
  eventTypes!: TypeCount[];

  @IsInt()
  followers!: number;

  /** Sorted by the number of subscriptions, most first. */
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

  /** The number of users who wrote chat messages. */
  @IsInt()
  chatters!: number;
}

/**
 * Summarizes the events that happened during a stream and concern the stream's channel, except test events. Saves the summaries of streams
 * that ended at least a minute ago, except for readers with limits. Recomputes a saved summary when the stream's events or times have
 * changed.
 */
export const summarizeStream = defineReadContract({
  subject: 'request.events.summarize-stream',
  request: SummarizeStreamRequest,
  reply: StreamSummaryMessage,
  errors: [],
  // Computing the summary of a stream with millions of events takes several seconds.
  timeoutMs: 10_000,
});
