import type { NatsConnection } from '@nats-io/transport-node';
import { Inject, Injectable } from '@nestjs/common';
import {
  eventSubject,
  findLiveStreams,
  maxLiveStreams,
  type AlarmKind,
  type AlarmMessage,
  type LiveStreamMessage,
} from '@stream-events/contracts';
import { EVENTS_CONNECTION, RequestClient } from '@stream-events/messaging';
import { inbound } from '@stream-events/platforms';
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
const subscriptionsMs = 30_000;
// While one of these alarms is open, it explains why events are missing.
const explanations: readonly AlarmKind[] = [
  'transport_down',
  'platform_unavailable',
  'shard_lost',
  'clock_off',
];

/** The event types with enabled subscriptions for a channel. `types` has the platform's names; `tokens` has the tokens in NATS subjects. */
interface EnabledTypes {
  types: string;
  tokens: ReadonlySet<string>;
}

/**
 * Raises an alarm when a live channel is silent for too long, compared with its usual event rate (see `ChannelActivity`). Only events of
 * enabled subscriptions count. When a channel loses a subscription, the check learns the channel's rate from scratch.
 *
 * ```
 *  EVENTS stream ──▶ rate of each channel ──silent──▶ still live, says the monitor ──▶ alarm
 *                                                                                       │ an event, or no longer live or subscribed
 *                                                                                       ▼ cleared
 * ```
 *
 * Silence counts only while a connector is watching and no other alarm explains the missing events. After a restart or an outage, channels
 * therefore do not all seem silent.
 */
@Injectable()
export class ChannelSilence {
  private readonly activities = new Map<string, ChannelActivity>();
  /** The enabled types of each channel, by the channel's id on the platform. */
  private subscribed = new Map<string, EnabledTypes>();
  private subscribedAt = Number.NEGATIVE_INFINITY;
  /**
   * The silent channels. The value is the time of the last event. If another instance raised the alarm, the value is the time of that
   * alarm.
   */
  private readonly silent = new Map<string, number>();
  private reader: ActivityReader | undefined;
  /**
   * When the reader began (`watchedSince`), and when another alarm last explained missing events (`explainedUntil`), in milliseconds since
   * 1970, by the broker's clock.
   */
  private watchedSince = 0;
  private explainedUntil = 0;

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
    if (performance.now() >= this.subscribedAt + Math.min(subscriptionsMs, 6 * this.times.checkMs))
      await this.readSubscriptions();
    const open = await this.repository.listOpen();
    const reader = this.reader && !this.reader.hasEnded ? this.reader : await this.begin(open);
    if (!(await reader.isUpToDate())) return;
    const { now } = reader;
    if (open.some(({ kind }) => explanations.includes(kind))) this.explainedUntil = now;
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
    const { intervalMs, intervals } = this.times.silence;
    for (const { kind, subject, message, raisedAt } of open) {
      if (kind !== 'channel_silent' || subject === null || this.silent.has(subject)) continue;
      this.silent.set(subject, raisedAt);
      this.alarms.raise(keyOf(subject), message);
    }
    this.reader = await ActivityReader.open(this.connection, intervals * intervalMs, (token, at) =>
      this.note(token, at),
    );
    this.watchedSince = this.reader.now;
    return this.reader;
  }

  private note(token: string, at: number): void {
    const [type = '', channel = ''] = token.split('.');
    if (!this.subscribed.get(channel)?.tokens.has(type)) return;
    const activity = this.activities.get(channel) ?? new ChannelActivity(this.times.silence);
    this.activities.set(channel, activity);
    activity.add(at);
  }

  private async readSubscriptions(): Promise<void> {
    // Aggregate to one row per channel, because there can be tens of thousands of subscriptions, and they rarely change.
    const rows = await this.dataSource.query<{ channel: string; types: string }[]>(
      `SELECT condition->>'broadcaster_user_id' AS channel, string_agg(DISTINCT type, ' ') AS types FROM subscriptions
       WHERE status = $1 AND condition->>'broadcaster_user_id' IS NOT NULL GROUP BY 1`,
      [enabled],
    );
    const before = this.subscribed;
    this.subscribed = new Map(
      rows.map(({ channel, types }) => {
        const known = before.get(channel);
        return [channel, known?.types === types ? known : toEnabled(types)];
      }),
    );
    for (const [channel, { tokens }] of before) {
      const now = this.subscribed.get(channel)?.tokens;
      if (!now || [...tokens].some((token) => !now.has(token))) this.forget(channel);
    }
    this.subscribedAt = performance.now();
  }

  private findSuspects(now: number): string[] {
    return [...this.activities]
      .filter(([channel, activity]) => !this.silent.has(channel) && this.isSilent(activity, now))
      .map(([channel]) => channel);
  }

  /** Whether a channel is silent. Ignores counts from before the end of the last outage, because events were missing then. */
  private isSilent(activity: ChannelActivity, now: number, startedAt = 0): boolean {
    const { explainedUntil } = this;
    return activity.isSilent(now, {
      liveSince: Math.max(startedAt, explainedUntil),
      watchedSince: Math.max(this.watchedSince, explainedUntil),
    });
  }

  /** Raises alarms about suspects that are still live. Clears the alarms of channels that are no longer live or subscribed. */
  private async decide(suspects: readonly string[], now: number): Promise<void> {
    const { streams } = await this.client.request(findLiveStreams, { platformIds: [...suspects] });
    const live = new Map(streams.map((stream) => [stream.platformId, stream]));
    for (const channel of suspects) {
      const stream = this.subscribed.has(channel) ? live.get(channel) : undefined;
      if (!stream) this.forget(channel);
      else if (!this.silent.has(channel)) this.judge(channel, stream, now);
    }
  }

  private judge(
    channel: string,
    { platformUsername, startedAt, seenAt }: LiveStreamMessage,
    now: number,
  ): void {
    const activity = this.activities.get(channel);
    if (!activity || !this.isSilent(activity, now, startedAt) || this.silent.size >= maxSilent) return;
    // Wait for a poll that lists the stream at least `seenAfterMs` after the last event. A channel is often silent because its stream has
    // just ended, and the platform still lists an ended stream for a short time.
    if (seenAt === null || seenAt < activity.lastAt + this.times.silence.seenAfterMs) return;
    this.silent.set(channel, activity.lastAt);
    const seconds = Math.round((now - activity.lastAt) / 1_000);
    const rate = printRate(activity.rateSince(startedAt));
    this.alarms.raise(
      keyOf(channel),
      `The live channel ${platformUsername} has sent no event for ${seconds} s. It usually sends ${rate}. Look at the stream: if ` +
        'something is happening there, events are missing. To find where they are lost, check `transport` in ' +
        'GET /api/v1/platform/status and the logs of the gateways and connectors.',
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

function printRate(perMinute: number): string {
  return perMinute >= 1 ? `${Math.round(perMinute)} per minute` : `${Math.round(perMinute * 60)} per hour`;
}

/** @param types the platform's names of the types, separated by spaces */
function toEnabled(types: string): EnabledTypes {
  const tokens = types
    .split(' ')
    .map((type) => eventSubject('platform', inbound.toEventType(type), null).split('.')[2] ?? '');
  return { types, tokens: new Set(tokens) };
}
