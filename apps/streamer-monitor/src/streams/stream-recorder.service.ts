import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import {
  absenceOf,
  MonitoredStreamersRepository,
  rename,
  type MonitoredStreamer,
  type NextPoll,
} from './monitored-streamers.repository.js';
import { resolveEnds } from './resolve-streams.js';
import { missesOnceAnnounced, type Milliseconds } from './stream-facts.js';
import {
  StreamsRepository,
  type AnnouncedStream,
  type RecordedOffline,
  type RecordedStream,
} from './streams.repository.js';

/** A stream-online or stream-offline event. */
export type StreamEvent = { at: Milliseconds; userId: string; userLogin: string } & (
  { kind: 'online'; stream: AnnouncedStream } | { kind: 'offline'; offline: RecordedOffline }
);

/** A changed streamer, whose streams the recorder must resolve again. */
export interface StreamerChange {
  streamer: MonitoredStreamer;
  /** Streams from this start on may have changed. */
  from: Milliseconds;
  nextPoll: (latest: RecordedStream | undefined) => NextPoll | undefined;
}

/**
 * Records facts about streams, and what follows from them, in one transaction that holds the streamer's lock. Idempotent by the ids of
 * stream and event: repeated, late, and reordered facts give the same streams.
 */
@Injectable()
export class StreamRecorder {
  constructor(
    private readonly dataSource: DataSource,
    private readonly streamers: MonitoredStreamersRepository,
    private readonly streams: StreamsRepository,
  ) {}

  /** Returns false when the streamer is not monitored. */
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
        // Poll at once, because the event has neither a title nor viewers.
        nextPoll: (latest) =>
          event.kind === 'online' && latest?.endedAt === null ? { inMs: 0, claimedUntil: null } : undefined,
      });
      return true;
    });
  }

  /** Ends the running stream as if two polls had missed it; for a streamer who will not be polled anymore. */
  async endRunning(transaction: EntityManager, streamerId: string): Promise<void> {
    const [latest] = await this.streams.readLatest(transaction, [streamerId]);
    if (latest?.endedAt !== null) return;
    const missedAt = latest.missedAt ?? Math.max(Date.now(), latest.startedAt);
    await this.streams.saveMisses(transaction, { ...latest, missedAt, isMissConfirmed: true });
    await this.resolve(transaction, streamerId, latest.startedAt);
  }

  /**
   * For a locked streamer, determines and saves the ends of the streams from `from` on, and of the stream before them.
   *
   * @returns the latest stream with its end
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

  /** Resolves a locked streamer's streams and saves the streamer accordingly. */
  async apply(
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
      { isVisible, nextPoll: nextPoll(latest) },
    );
  }

  private async saveAnnounced(
    transaction: EntityManager,
    streamer: MonitoredStreamer,
    announced: AnnouncedStream,
  ): Promise<Milliseconds> {
    const known = await this.streams.find(transaction, streamer.id, announced.streamId);
    const { missedAt, isMissConfirmed } = missesOnceAnnounced(known, announced, absenceOf(streamer));
    await this.streams.saveAnnounced(transaction, streamer.id, [{ ...announced, missedAt, isMissConfirmed }]);
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
}
