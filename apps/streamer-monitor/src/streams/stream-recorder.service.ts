import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  absenceOf,
  MonitoredStreamersRepository,
  rename,
  type MonitoredStreamer,
  type NextPoll,
} from '../streamers/monitored-streamers.repository.js';
import { resolveEnds } from './resolve-streams.js';
import {
  confirmMissAfterMs,
  missesBeforeKnown,
  noteMissed,
  prolongAbsence,
  type Milliseconds,
} from './stream-facts.js';
import {
  StreamsRepository,
  type AnnouncedStream,
  type RecordedOffline,
  type RecordedStream,
  type SeenStream,
} from './streams.repository.js';

/** What an event said about a streamer's streams. */
export type StreamEvent = { at: Milliseconds; userId: string; userLogin: string } & (
  { kind: 'online'; stream: AnnouncedStream } | { kind: 'offline'; offline: RecordedOffline }
);

/** What the platform answered about one streamer. */
export interface Poll {
  /** When it was asked. */
  at: Milliseconds;
  /** Null: the streamer is not live, as far as the platform's list goes. */
  stream: SeenStream | null;
  claimedUntil: Milliseconds | null;
}

/** A stream that was announced is looked up soon: its title and viewers are not in the event. */
const pollAfterOnlineMs = 5_000;
/** How long after a poll the next one is due: below a minute, as viewers are charted by the minute. */
export const pollIntervalMs = 45_000;
/** So early a streamer is polled along with another one who is due, so that batches stay full. */
export const pollAheadMs = 5_000;
// Polled ahead as well, the second miss must count; the clocks of who plans and who asks may differ a little.
const pollAfterMissMs = confirmMissAfterMs + pollAheadMs + 500;

/** What changes with a streamer besides its streams. */
interface StreamerChange {
  streamer: MonitoredStreamer;
  /** Streams that began then or later may have changed. */
  from: Milliseconds;
  nextPoll: (isRunning: boolean) => NextPoll | undefined;
}

/**
 * Writes down what is said about streams, and what follows from it, each time in one transaction that holds the streamer's lock.
 * Idempotent by the id of the stream and of the event: what is said again, late or in another order gives the same streams.
 */
@Injectable()
export class StreamRecorder {
  constructor(
    private readonly dataSource: DataSource,
    private readonly streamers: MonitoredStreamersRepository,
    private readonly streams: StreamsRepository,
  ) {}

  /** Records what an event said; false when the streamer is not monitored. */
  async recordEvent(event: StreamEvent): Promise<boolean> {
    return this.dataSource.transaction(async (transaction) => {
      const streamer = await this.streamers.lockByPlatformId(transaction, event.userId);
      if (!streamer) return false;
      const from =
        event.kind === 'online'
          ? await this.saveAnnounced(transaction, streamer, event.stream)
          : await this.saveOffline(transaction, streamer, event.offline);
      await this.apply(transaction, streamer, {
        streamer: rename(streamer, event.userLogin, event.at),
        from,
        nextPoll: (isRunning) =>
          event.kind === 'online' && isRunning ? { inMs: pollAfterOnlineMs, claimedUntil: null } : undefined,
      });
      return true;
    });
  }

  /** Records a poll; false when the streamer is not monitored any more, or a later poll is recorded already. */
  async recordPoll(streamerId: string, poll: Poll): Promise<boolean> {
    return this.dataSource.transaction(async (transaction) => {
      const [streamer] = await this.streamers.lock(transaction, [streamerId]);
      if (!streamer || (streamer.polledAt !== null && streamer.polledAt >= poll.at)) return false;
      const isInDoubt = await this.saveMiss(transaction, streamer, poll);
      if (poll.stream)
        await this.streams.saveSeen(transaction, poll.at, [{ streamerId, stream: poll.stream }]);
      const absence = poll.stream ? null : prolongAbsence(absenceOf(streamer), poll.at);
      const named = poll.stream ? rename(streamer, poll.stream.userLogin, poll.at) : streamer;
      await this.apply(transaction, streamer, {
        streamer: { ...named, polledAt: poll.at, absentSince: absence?.since ?? null },
        from: Math.min(poll.at, poll.stream?.startedAt ?? poll.at),
        nextPoll: (isRunning) => ({
          inMs: isRunning && isInDoubt ? pollAfterMissMs : pollIntervalMs,
          claimedUntil: poll.claimedUntil,
        }),
      });
      return true;
    });
  }

  /** Ends the stream that is running, as if polls had missed it for good: nobody looks at it from now on. */
  async giveUp(transaction: EntityManager, streamerId: string): Promise<void> {
    const [latest] = await this.streams.readLatest(transaction, [streamerId]);
    if (latest?.endedAt !== null) return;
    const missedAt = latest.missedAt ?? Math.max(Date.now(), latest.startedAt);
    await this.streams.saveMisses(transaction, { ...latest, missedAt, isMissConfirmed: true });
    await this.resolve(transaction, streamerId, latest.startedAt);
  }

  /**
   * Finds the ends of a locked streamer's streams that began at `from` or later, and of the one before them.
   *
   * @returns the latest stream, as it is now
   */
  async resolve(
    transaction: EntityManager,
    streamerId: string,
    from: Milliseconds,
  ): Promise<RecordedStream | undefined> {
    const { streams, offline } = await this.streams.readWindow(transaction, streamerId, from);
    const ends = resolveEnds(streams, offline);
    const resolved = streams.map((stream, index) => ({ ...stream, endedAt: ends[index] ?? null }));
    const changed = resolved.filter(({ endedAt }, index) => endedAt !== streams[index]?.endedAt);
    await this.streams.saveEnds(transaction, changed);
    return resolved.at(-1);
  }

  private async apply(
    transaction: EntityManager,
    before: MonitoredStreamer,
    { streamer, from, nextPoll }: StreamerChange,
  ): Promise<void> {
    const latest = await this.resolve(transaction, streamer.id, from);
    const streaming = latest?.endedAt === null;
    const isVisible = streaming !== before.streaming || streamer.platformUsername !== before.platformUsername;
    await this.streamers.save(
      transaction,
      { ...streamer, streaming, isStreamingKnown: true },
      { isVisible, nextPoll: nextPoll(streaming) },
    );
  }

  private async saveAnnounced(
    transaction: EntityManager,
    streamer: MonitoredStreamer,
    announced: AnnouncedStream,
  ): Promise<Milliseconds> {
    const known = await this.streams.find(transaction, streamer.id, announced.streamId);
    const misses = missesBeforeKnown(announced.startedAt, absenceOf(streamer));
    await this.streams.saveAnnounced(transaction, streamer.id, [{ ...announced, ...misses }]);
    return Math.min(announced.startedAt, known?.startedAt ?? announced.startedAt);
  }

  private async saveOffline(
    transaction: EntityManager,
    streamer: MonitoredStreamer,
    offline: RecordedOffline,
  ): Promise<Milliseconds> {
    await this.streams.saveOffline(transaction, streamer.id, [offline]);
    const named =
      offline.streamId === null
        ? undefined
        : await this.streams.find(transaction, streamer.id, offline.streamId);
    return named?.startedAt ?? offline.at;
  }

  /** Notes that the latest stream is not the one that was seen; says whether it has to be looked for again soon. */
  private async saveMiss(
    transaction: EntityManager,
    streamer: MonitoredStreamer,
    { at, stream }: Poll,
  ): Promise<boolean> {
    const [latest] = await this.streams.readLatest(transaction, [streamer.id]);
    if (!latest || latest.streamId === stream?.streamId) return false;
    const missed = noteMissed(latest, at);
    if (missed.missedAt !== latest.missedAt || missed.isMissConfirmed !== latest.isMissConfirmed)
      await this.streams.saveMisses(transaction, missed);
    return missed.missedAt !== null && !missed.isMissConfirmed;
  }
}
