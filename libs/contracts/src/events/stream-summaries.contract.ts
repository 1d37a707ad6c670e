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
import { defineContract } from '../contract.js';
import { IsText } from '../text.js';
import { IsReadLimits, type ReadLimits } from './read-limits.js';

/** Maximum number of event types in a summary. The types with the most events are included. */
export const maxSummaryTypes = 200;
/** Maximum number in a summary of each: givers, cheerers, incoming raids, outgoing raids, and subscription tiers. */
export const maxSummaryTops = 10;

export class SummarizeStreamRequest {
  /** The stream's `id`. */
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

  /** The events to count. */
  @IsReadLimits()
  limits!: ReadLimits;
}

/** Number of events of one type. */
export class TypeCount {
  @IsString()
  eventType!: string;

  @IsInt()
  count!: number;
}

/** Subscriptions of one tier. */
export class TierCount {
  /** The platform's name of the tier. */
  @IsString()
  tier!: string;

  /** New subscriptions that the subscribers paid for. */
  @IsInt()
  new!: number;

  /** New subscriptions that were gifts. */
  @IsInt()
  gifted!: number;

  @IsInt()
  renewed!: number;
}

/** A user, with the total of gifts or bits that the user gave. */
export class TopUser {
  @IsString()
  userId!: string;

  /** Name from the latest event that contains one; null if none does. */
  @IsOptional()
  @IsString()
  userName!: string | null;

  @IsInt()
  total!: number;
}

/** Total of the gifts or bits that users gave. */
export class GivenTotal {
  @IsInt()
  total!: number;

  /** The part of the total that anonymous users gave. */
  @IsInt()
  anonymous!: number;

  /** Users who gave the most, in descending order. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => TopUser)
  top!: TopUser[];
}

/** A raid as seen from the summarized stream. */
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

/** Raids in one direction. */
export class RaidTotal {
  @IsInt()
  count!: number;

  /** Viewers of all raids together. */
  @IsInt()
  viewers!: number;

  /** Raids with the most viewers, in descending order. */
  @IsArray()
  @ArrayMaxSize(maxSummaryTops)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => SummarizedRaid)
  top!: SummarizedRaid[];
}

/** Totals of a stream's events. */
export class StreamSummaryMessage {
  /** Whether retention has deleted some of the stream's events. */
  @IsBoolean()
  isPartial!: boolean;

  /** Number of events of all types. */
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

  /** Most subscriptions first. */
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

  /** Number of users who wrote chat messages. */
  @IsInt()
  chatters!: number;
}

/**
 * Summarizes the events of a stream's channel during the stream, except test events. If the stream ended at least a minute ago and the
 * reader has no limits, saves the summary. Recomputes a saved summary when the stream's times or events have changed, or when retention has
 * deleted older events since.
 */
export const summarizeStream = defineContract({
  subject: 'request.events.summarize-stream',
  request: SummarizeStreamRequest,
  reply: StreamSummaryMessage,
  errors: [],
  // Summarizing a stream with millions of events takes several seconds.
  timeoutMs: 10_000,
});
