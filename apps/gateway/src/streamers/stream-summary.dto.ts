import { ApiProperty } from '@nestjs/swagger';
import {
  maxSummaryTops,
  maxSummaryTypes,
  type GivenTotal,
  type RaidTotal,
  type StreamSummaryMessage,
  type StreamViewersReply,
} from '@stream-events/contracts';
import { exampleTime, printTime, printTimeOrNull } from '../http/time.js';

/** Event counts of a stream. */
export class SummaryEvents {
  @ApiProperty({ type: 'integer', description: 'Number of events of all types', example: 5214 })
  total!: number;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: `Number of events by type. Contains the ${maxSummaryTypes} types with the most events`,
    example: { 'channel-chat-message': 5100, 'channel-follow': 114 },
  })
  by_type!: Record<string, number>;
}

/** Subscriptions of one tier. */
export class SummaryTier {
  @ApiProperty({ description: 'The tier, as the platform names it', example: '1000' })
  tier!: string;

  @ApiProperty({ type: 'integer', description: 'New subscriptions that the subscriber paid for', example: 4 })
  new!: number;

  @ApiProperty({ type: 'integer', description: 'New subscriptions that were gifts', example: 10 })
  gifted!: number;

  @ApiProperty({
    type: 'integer',
    description: 'Resubscriptions that the subscriber shared in chat',
    example: 7,
  })
  renewed!: number;
}

/** Subscriptions during a stream. */
export class SummarySubscriptions {
  @ApiProperty({ type: 'integer', description: 'Number of subscriptions of all tiers', example: 21 })
  total!: number;

  @ApiProperty({ type: [SummaryTier], description: 'The tiers, most subscriptions first' })
  by_tier!: SummaryTier[];
}

/** A user and the number of subscriptions gifted or bits cheered. */
export class SummaryUser {
  @ApiProperty({ description: 'The user’s id on the platform', example: '12826' })
  user_id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The display name in the user’s latest event',
    example: 'Some_Viewer',
  })
  user_name!: string | null;

  @ApiProperty({ type: 'integer', description: 'Number of gifted subscriptions or bits', example: 10 })
  total!: number;
}

/** Subscriptions gifted during a stream. */
export class SummaryGifts {
  @ApiProperty({ type: 'integer', description: 'Number of gifted subscriptions', example: 15 })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'The part of `total` from anonymous givers', example: 5 })
  anonymous!: number;

  @ApiProperty({
    type: [SummaryUser],
    description: `The ${maxSummaryTops} users who gifted the most subscriptions`,
  })
  top_givers!: SummaryUser[];
}

/** Bits cheered during a stream. */
export class SummaryBits {
  @ApiProperty({ type: 'integer', description: 'Number of bits', example: 2300 })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'The part of `total` from anonymous cheerers', example: 100 })
  anonymous!: number;

  @ApiProperty({ type: [SummaryUser], description: `The ${maxSummaryTops} users who cheered the most bits` })
  top_cheerers!: SummaryUser[];
}

export class SummaryRaid {
  @ApiProperty({ description: 'Time of the raid, UTC, to the second', example: exampleTime })
  at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The other channel’s id on the platform',
    example: '83710',
  })
  user_id!: string | null;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The name of the other channel',
    example: 'Raider',
  })
  user_name!: string | null;

  @ApiProperty({ type: 'integer', description: 'Number of viewers who took part', example: 52 })
  viewers!: number;
}

/** Raids in one direction. */
export class SummaryRaids {
  @ApiProperty({ type: 'integer', description: 'Number of raids', example: 1 })
  count!: number;

  @ApiProperty({ type: 'integer', description: 'Total number of viewers in all raids', example: 52 })
  viewers!: number;

  @ApiProperty({ type: [SummaryRaid], description: `The ${maxSummaryTops} raids with the most viewers` })
  top!: SummaryRaid[];
}

/** Raids during a stream. */
export class SummaryRaidDirections {
  @ApiProperty({ type: SummaryRaids, description: 'Raids from other channels to this channel' })
  incoming!: SummaryRaids;

  @ApiProperty({ type: SummaryRaids, description: 'Raids from this channel to other channels' })
  outgoing!: SummaryRaids;
}

/** Viewer counts of a stream. */
export class SummaryViewers {
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'The highest number of viewers. Null until the platform has listed the stream, and 400 days after the stream started',
    example: 312,
  })
  peak!: number | null;

  @ApiProperty({
    type: Number,
    nullable: true,
    description:
      'The average number of viewers over the duration of the stream. Null until the platform has listed the stream, and 400 days after the stream started',
    example: 201.5,
  })
  average!: number | null;
}

/** Chat activity during a stream. */
export class SummaryChat {
  @ApiProperty({ type: 'integer', description: 'Number of chat messages', example: 5100 })
  messages!: number;

  @ApiProperty({ type: 'integer', description: 'Number of users who sent chat messages', example: 180 })
  chatters!: number;
}

export class StreamSummary {
  @ApiProperty({
    format: 'uuid',
    description: 'The id of the stream',
    example: '019aa3c1-7f5e-7cc2-9d5c-3b1a6a1f0c11',
  })
  id!: string;

  @ApiProperty({ description: 'The stream’s id on the platform', example: '41375541868' })
  stream_id!: string;

  @ApiProperty({ description: 'Start time, UTC, to the second', example: exampleTime })
  started_at!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'End time, UTC, to the second. Null while the stream is live',
    example: null,
  })
  ended_at!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Duration of the stream in seconds. While the stream is live, the time since its start',
    example: 14400,
  })
  duration_seconds!: number;

  @ApiProperty({
    description:
      'Whether the numbers are incomplete because the service lacks events from the beginning of the stream: retention has deleted them, or the service was not running yet',
    example: false,
  })
  partial!: boolean;

  @ApiProperty({ type: SummaryEvents })
  events!: SummaryEvents;

  @ApiProperty({ type: 'integer', description: 'Number of new followers', example: 114 })
  followers!: number;

  @ApiProperty({ type: SummarySubscriptions })
  subscriptions!: SummarySubscriptions;

  @ApiProperty({ type: SummaryGifts })
  gifts!: SummaryGifts;

  @ApiProperty({ type: SummaryBits })
  bits!: SummaryBits;

  @ApiProperty({ type: SummaryRaidDirections })
  raids!: SummaryRaidDirections;

  @ApiProperty({ type: SummaryViewers })
  viewers!: SummaryViewers;

  @ApiProperty({ type: SummaryChat })
  chat!: SummaryChat;
}

/** Combines the streamer monitor's viewer counts with the event store's counts. */
export function toStreamSummary(
  { stream, peak, average }: StreamViewersReply,
  summary: StreamSummaryMessage,
): StreamSummary {
  const { id, streamId, startedAt, endedAt } = stream;
  const { eventTypes, tiers } = summary;
  return {
    id,
    stream_id: streamId,
    started_at: printTime(startedAt),
    ended_at: printTimeOrNull(endedAt),
    duration_seconds: Math.max(Math.round(((endedAt ?? Date.now()) - startedAt) / 1_000), 0),
    partial: summary.isPartial,
    events: {
      total: summary.events,
      by_type: Object.fromEntries(eventTypes.map(({ eventType, count }) => [eventType, count])),
    },
    followers: summary.followers,
    subscriptions: {
      total: tiers.reduce((sum, tier) => sum + tier.new + tier.gifted + tier.renewed, 0),
      by_tier: tiers,
    },
    gifts: { ...toTotals(summary.gifts), top_givers: toUsers(summary.gifts) },
    bits: { ...toTotals(summary.bits), top_cheerers: toUsers(summary.bits) },
    raids: { incoming: toRaids(summary.incomingRaids), outgoing: toRaids(summary.outgoingRaids) },
    viewers: { peak, average: average === null ? null : Math.round(average * 10) / 10 },
    chat: { messages: summary.chatMessages, chatters: summary.chatters },
  };
}

function toTotals({ total, anonymous }: GivenTotal): { total: number; anonymous: number } {
  return { total, anonymous };
}

function toUsers({ top }: GivenTotal): SummaryUser[] {
  return top.map(({ userId, userName, total }) => ({ user_id: userId, user_name: userName, total }));
}

function toRaids({ count, viewers, top }: RaidTotal): SummaryRaids {
  return {
    count,
    viewers,
    top: top.map((raid) => ({
      at: printTime(raid.at),
      user_id: raid.channelId,
      user_name: raid.channelName,
      viewers: raid.viewers,
    })),
  };
}
