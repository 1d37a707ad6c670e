import { createHash } from 'node:crypto';
import type { LoadPopulation } from '../load/request-maker.js';

/** Size of a filled store: events, time range, channels, and viewers. */
export interface Population {
  events: number;
  /** Monthly partitions. The last one contains the end. */
  months: number;
  /** Exclusive end of the time range, in milliseconds since 1970. */
  until: number;
  channels: number;
  viewers: number;
}

/** Shape of an event's data. */
export type EventForm = 'chat' | 'viewer' | 'reward' | 'cheer' | 'raid' | 'broadcaster';

/** An event type and its share of all events. */
export interface TypeShare {
  type: string;
  form: EventForm;
  weight: number;
  source?: 'TestCall' | 'MyBot';
}

export const chatType = 'channel-chat-message';
export const rewardType = 'channel-channel_points_custom_reward_redemption-add';
export const clientSource = 'MyBot';

/** Largest share first, then the test calls. The weights add up to about 1,000. */
export const typeShares: readonly TypeShare[] = [
  { type: chatType, form: 'chat', weight: 800 },
  { type: 'channel-follow', form: 'viewer', weight: 45 },
  { type: rewardType, form: 'reward', weight: 40 },
  { type: 'channel-subscribe', form: 'viewer', weight: 20 },
  { type: 'channel-subscription-message', form: 'viewer', weight: 15 },
  { type: 'channel-cheer', form: 'cheer', weight: 12 },
  { type: 'channel-subscription-gift', form: 'viewer', weight: 8 },
  { type: 'channel-update', form: 'broadcaster', weight: 6 },
  { type: 'channel-hype_train-progress', form: 'broadcaster', weight: 6 },
  { type: 'channel-poll-progress', form: 'broadcaster', weight: 6 },
  { type: 'channel-raid', form: 'raid', weight: 5 },
  { type: 'channel-ban', form: 'viewer', weight: 5 },
  { type: 'channel-chat-notification', form: 'chat', weight: 5 },
  { type: 'stream-online', form: 'broadcaster', weight: 4 },
  { type: 'stream-offline', form: 'broadcaster', weight: 4 },
  { type: 'channel-prediction-progress', form: 'broadcaster', weight: 4 },
  { type: 'channel-ad_break-begin', form: 'broadcaster', weight: 3 },
  { type: 'bot-command', form: 'viewer', weight: 3, source: clientSource },
  { type: 'channel-goal-progress', form: 'broadcaster', weight: 1.5 },
  { type: 'channel-suspicious_user-message', form: 'viewer', weight: 1 },
  { type: 'channel-vip-add', form: 'viewer', weight: 0.5 },
  { type: 'channel-moderator-add', form: 'viewer', weight: 0.5 },
  { type: 'channel-shoutout-create', form: 'broadcaster', weight: 0.5 },
  { type: 'channel-charity_campaign-donate', form: 'viewer', weight: 0.5 },
  { type: 'channel-warning-send', form: 'viewer', weight: 0.5 },
  { type: 'channel-unban_request-create', form: 'viewer', weight: 0.5 },
  { type: 'channel-follow', form: 'viewer', weight: 2, source: 'TestCall' },
  { type: 'channel-cheer', form: 'cheer', weight: 1.5, source: 'TestCall' },
  { type: 'channel-raid', form: 'raid', weight: 0.5, source: 'TestCall' },
];

/**
 * The share of events of all ranks below r is (r / count) ^ (1 / exponent). Of 1,000 channels, the first has 10 % of the events and the
 * last has 0.03 %. The formula applies to the viewers of each group (see `viewerGroups`). Of 300,000 viewers in all groups, the first has
 * 1 % of the events, and the last has about 10 of 10,000,000 events.
 */
export const tailExponents = { channels: 3, viewers: 3.4 };

/** Viewer ranks and channel ranks of an event are equal modulo this number. Some pairs of common values therefore never occur. */
export const viewerGroups = 4;

export const rewardsPerChannel = 20;

const firstChannelId = 20_000_000;
const firstViewerId = 100_000;

/** First ids of channels and viewers, for the SQL statement and for Node. */
export const firstIds = { channel: firstChannelId, viewer: firstViewerId };

/** Chooses the size of a store. Its time range ends at the start of the current UTC day. */
export function choosePopulation(events: number, months: number, now: number): Population {
  const dayMs = 24 * 3_600_000;
  return {
    events,
    months,
    until: Math.floor(now / dayMs) * dayMs,
    channels: 1_000,
    viewers: Math.max(4_000, Math.round((events * 0.03) / viewerGroups) * viewerGroups),
  };
}

export function channelId(rank: number): string {
  return String(firstChannelId + rank);
}

export function channelName(rank: number): string {
  return `Channel_${rank}`;
}

export function viewerId(rank: number): string {
  return String(firstViewerId + rank);
}

export function viewerName(rank: number): string {
  return `Viewer_${rank}`;
}

/** @param number counts from 0 */
export function rewardId(channel: number, number: number): string {
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  return `${hex(channel, 8)}-0000-4000-8000-${hex(number, 12)}`;
}

/** `event_id` of the event with this number. Client events have none. */
export function messageId(number: number): string {
  const hex = createHash('md5').update(`message ${number}`).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A store's channels and viewers, for the loads that send events. */
export function loadPopulationOf({ channels, viewers }: Population): LoadPopulation {
  return { firstChannelId, channels, firstViewerId, viewers };
}

/** A partition of a filled store. Times are in milliseconds since 1970; `to` is exclusive. */
export interface Month {
  name: string;
  from: number;
  to: number;
}

/** Oldest first. The last partition contains the last event. */
export function monthsOf({ months, until }: Population): Month[] {
  const last = new Date(until - 1);
  return Array.from({ length: months }, (_, index) => {
    const start = (offset: number): number =>
      Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - months + 1 + index + offset);
    const from = start(0);
    const time = new Date(from);
    const name = `events_${time.getUTCFullYear()}_${String(time.getUTCMonth() + 1).padStart(2, '0')}`;
    return { name, from, to: start(1) };
  });
}

/** The events of a partition. Their numbers are consecutive. */
export interface EventRange {
  month: Month;
  /** Number of the first event. */
  first: number;
  count: number;
}

/** Events by partition. They arrive at a steady rate over the whole time. */
export function rangesOf(population: Population): EventRange[] {
  return monthsOf(population).map((month) => {
    const first = firstAt(population, month.from);
    return { month, first, count: firstAt(population, month.to) - first };
  });
}

/** Start of the time range. */
export function startOf(population: Population): number {
  return monthsOf(population)[0]?.from ?? 0;
}

/** Time at a share of the time range, from 0 to 1. */
export function timeAt(population: Population, share: number): number {
  const from = startOf(population);
  return from + share * (population.until - from);
}

/** Number of the first event at or after a time. Numbers count from 1. */
function firstAt(population: Population, time: number): number {
  const { events, until } = population;
  if (time >= until) return events + 1;
  const from = startOf(population);
  const before = (BigInt(time - from) * BigInt(events) + BigInt(until - from) - 1n) / BigInt(until - from);
  return 1 + Number(before);
}
