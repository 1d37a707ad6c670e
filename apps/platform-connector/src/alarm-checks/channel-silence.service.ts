import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable } from '@nestjs/common';
import {
  findLiveStreams,
  maxLiveStreams,
  type AlarmKind,
  type AlarmMessage,
  type LiveStreamMessage,
} from '@stream-events/contracts';
import { EVENTS_CONNECTION, RequestClient } from '@stream-events/messaging';
import { Alarms } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { enabled } from '../subscriptions/own-subscription.js';
import { ActivityReader } from './activity-reader.js';
import { ChannelActivity } from './channel-activity.js';

// Maximum number of alarms about silent channels. If more channels are silent, they probably share one cause, and more alarms would not
// help to find it.
const maxSilent = 5;
// While one of these alarms is open, it explains why events are missing.
const explanations: readonly AlarmKind[] = [
  'transport_down',
  'platform_unavailable',
  'shard_lost',
  'clock_off',
];

/**
 * Raises an alarm when a live channel had at least 300 events in an hour, and then has none for ten minutes. When a channel loses
 * an enabled subscription, its events count from zero, because the channel may now be quiet for this reason.
 *
 * ```
 *  EVENTS stream ──▶ events of each channel ──silent──▶ still live, says the monitor ──▶ alarm
 *                                                                                         │ an event, or no longer live or subscribed
 *                                                                                         ▼ cleared
 * ```
 *
 * Silence counts only while a connector is watching and no other alarm explains the missing events. After a restart or an outage, channels
 * therefore do not all seem silent.
 */
@Injectable()
export class ChannelSilence {
  private readonly activities = new Map<string, ChannelActivity>();
  /** The types of the enabled subscriptions of each channel, by the channel's id on the platform. */
  private subscribed = new Map<string, readonly string[]>();
  private subscribedAt = Number.NEGATIVE_INFINITY;
  /**
   * The silent channels. The value is the time of the last event. If another instance raised the alarm, the value is the time of that
   * alarm.
   */
  private readonly silent = new Map<string, number>();
  private reader: ActivityReader | undefined;
  /** The time from which silence counts: when the reader began or, if later, when another alarm last explained missing events. */
  private watchedSince = 0;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(EVENTS_CONNECTION) private readonly connection: NatsConnection,
    private readonly client: RequestClient,
    private readonly alarms: Alarms,
    private readonly repository: AlarmsRepository,
    @Inject(ALARM_TIMES) private readonly times: AlarmTimes,
  ) {}

  /** @throws when the database, NATS, or the streamer monitor does not respond; alarms then stay as they are */
  async run(): Promise<void> {
    if (performance.now() >= this.subscribedAt + 6 * this.times.checkMs) await this.readSubscriptions();
    const open = await this.repository.listOpen();
    const reader = this.reader && !this.reader.hasEnded ? this.reader : await this.begin(open);
    const { now } = reader;
    if (open.some(({ kind }) => explanations.includes(kind))) this.watchedSince = now;
    for (const [channel, since] of this.silent) {
      const lastAt = this.activities.get(channel)?.lastAt ?? 0;
      if (lastAt > since) this.clear(channel);
    }
    const suspects = [...this.silent.keys(), ...this.findSuspects(now)].slice(0, maxLiveStreams);
    if (suspects.length > 0) await this.decide(suspects, now);
  }

  stop(): void {
    this.reader?.stop();
    this.reader = undefined;
    for (const channel of this.silent.keys()) this.alarms.withdraw(keyOf(channel));
    this.silent.clear();
    this.activities.clear();
  }

  /**
   * Opens a reader, which first reads the history from the EVENTS stream. Takes over the open alarms from the previous instance, because
   * the history may contain no event of a silent channel.
   */
  private async begin(open: readonly AlarmMessage[]): Promise<ActivityReader> {
    this.activities.clear();
    for (const { kind, subject, message, raisedAt } of open) {
      if (kind !== 'channel_silent' || subject === null || this.silent.has(subject)) continue;
      this.silent.set(subject, raisedAt);
      this.alarms.raise(keyOf(subject), message);
    }
    this.reader = await ActivityReader.open(this.connection, (channel, at) => this.note(channel, at));
    this.watchedSince = this.reader.now;
    return this.reader;
  }

  private note(channel: string, at: number): void {
    if (!this.subscribed.has(channel)) return;
    const activity = this.activities.get(channel) ?? new ChannelActivity();
    this.activities.set(channel, activity);
    activity.add(at);
  }

  private async readSubscriptions(): Promise<void> {
    // Aggregate to one row per channel, because there can be tens of thousands of subscriptions, and they rarely change.
    const rows = await this.dataSource.query<{ channel: string; types: string[] }[]>(
      `SELECT condition->>'broadcaster_user_id' AS channel, array_agg(DISTINCT type) AS types FROM subscriptions
       WHERE status = $1 AND condition->>'broadcaster_user_id' IS NOT NULL GROUP BY 1`,
      [enabled],
    );
    const before = this.subscribed;
    this.subscribed = new Map(rows.map(({ channel, types }) => [channel, types]));
    for (const [channel, types] of before) {
      const now = this.subscribed.get(channel);
      if (types.some((type) => !now?.includes(type))) this.forget(channel);
    }
    this.subscribedAt = performance.now();
  }

  private findSuspects(now: number): string[] {
    return [...this.activities]
      .filter(([channel, activity]) => !this.silent.has(channel) && this.isSilent(activity, now))
      .map(([channel]) => channel);
  }

  private isSilent(activity: ChannelActivity, now: number): boolean {
    return activity.isSilent(now, this.watchedSince, this.times.silence);
  }

  /** Raises alarms about suspects that are still live. Clears the alarms of channels that are no longer live or subscribed. */
  private async decide(suspects: readonly string[], now: number): Promise<void> {
    const { streams } = await this.client.request(findLiveStreams, { platformIds: [...suspects] });
    const live = new Map(streams.map((stream) => [stream.platformId, stream]));
    for (const channel of suspects) {
      const stream = this.subscribed.has(channel) ? live.get(channel) : undefined;
      if (!stream) this.forget(channel);
      else if (!this.silent.has(channel)) this.raise(channel, stream, now);
    }
  }

  private raise(channel: string, { platformUsername }: LiveStreamMessage, now: number): void {
    const activity = this.activities.get(channel);
    // The channel can have sent an event while the monitor replied.
    if (!activity || !this.isSilent(activity, now) || this.silent.size >= maxSilent) return;
    this.silent.set(channel, activity.lastAt);
    const silentMinutes = Math.floor((now - activity.lastAt) / 60_000);
    this.alarms.raise(
      keyOf(channel),
      `The live channel ${platformUsername} has sent no event for ${silentMinutes} minutes, after ${activity.eventsInHour} events in an ` +
        'hour. Look at the stream: if something is happening there, events are missing. To find where they are lost, check ' +
        '`transport` in GET /api/v1/platform/status and the logs of the gateways and connectors.',
    );
  }

  /** Forgets the events of a channel that is no longer live or has lost a subscription, and clears its alarm. */
  private forget(channel: string): void {
    this.activities.delete(channel);
    this.clear(channel);
  }

  private clear(channel: string): void {
    if (this.silent.delete(channel)) this.alarms.clear(keyOf(channel));
  }
}

function keyOf(channel: string): `channel_silent:${string}` {
  return `channel_silent:${channel}`;
}
