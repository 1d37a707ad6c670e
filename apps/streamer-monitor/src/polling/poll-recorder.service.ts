import { Inject, Injectable } from '@nestjs/common';
import type { LookUpStreamsReply } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource, type EntityManager } from 'typeorm';
import {
  absenceOf,
  MonitoredStreamersRepository,
  type MonitoredStreamer,
} from '../streams/monitored-streamers.repository.js';
import { addMiss, prolongAbsence, type Milliseconds } from '../streams/stream-facts.js';
import { StreamRecorder } from '../streams/stream-recorder.service.js';
import { StreamsRepository, type SeenStream } from '../streams/streams.repository.js';
import type { Claim } from './claims.repository.js';
import { nextPollInMs, pollIntervalMs } from './poll-interval.js';
import { isOutdated, isRoutine, renameByPoll, type Poll } from './routine-poll.js';
import { toSeenStream } from './seen-stream.js';

/** One streamer's poll in a batch. */
interface StreamerPoll extends Poll {
  streamerId: string;
}

/** Records the platform's reply for a batch of streamers. */
@Injectable()
export class PollRecorder {
  private readonly failureLog: FailureLog;

  constructor(
    private readonly dataSource: DataSource,
    private readonly streamers: MonitoredStreamersRepository,
    private readonly streams: StreamsRepository,
    private readonly recorder: StreamRecorder,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failureLog = new FailureLog(logger);
  }

  /**
   * Records routine polls (see `isRoutine`) in a few statements for the whole batch, and the others one by one.
   *
   * @returns how many polls were not routine
   */
  async record(claim: Claim, reply: LookUpStreamsReply): Promise<number> {
    const streams = new Map(reply.streams.map((stream) => [stream.userId, toSeenStream(stream)]));
    const polls = claim.streamers.map(({ id, platformId }) => ({
      streamerId: id,
      at: reply.askedAt,
      stream: streams.get(platformId) ?? null,
      claimedUntil: claim.claimedUntil,
    }));
    const routine = await this.recordRoutine(polls, { at: reply.askedAt, claimedUntil: claim.claimedUntil });
    const others = polls.filter(({ streamerId }) => !routine.has(streamerId));
    for (const poll of others) await this.recordOne(poll);
    return others.length;
  }

  /** Returns false when the streamer is no longer monitored, or when this or a later poll is already recorded. */
  async recordPoll(streamerId: string, poll: Poll): Promise<boolean> {
    return this.dataSource.transaction(async (transaction) => {
      const [streamer] = await this.streamers.lock(transaction, [streamerId]);
      if (!streamer || isOutdated(streamer, poll)) return false;
      const isInDoubt = await this.saveMiss(transaction, streamer, poll);
      if (poll.stream)
        await this.streams.saveSeen(transaction, poll.at, [{ streamerId, stream: poll.stream }]);
      const absence = poll.stream ? null : prolongAbsence(absenceOf(streamer), poll.at);
      const named = renameByPoll(streamer, poll);
      await this.recorder.apply(transaction, streamer, {
        streamer: { ...named, polledAt: poll.at, absentSince: absence?.since ?? null },
        from: Math.min(poll.at, poll.stream?.startedAt ?? poll.at),
        nextPoll: (latest) => ({
          inMs: nextPollInMs(latest, { at: poll.at, isInDoubt }),
          claimedUntil: poll.claimedUntil,
        }),
      });
      return true;
    });
  }

  /** Records the routine polls, and returns the ids of their streamers. */
  private async recordRoutine(
    polls: readonly StreamerPoll[],
    { at, claimedUntil }: { at: Milliseconds; claimedUntil: Milliseconds },
  ): Promise<ReadonlySet<string>> {
    return this.dataSource.transaction(async (transaction) => {
      const ids = polls.map(({ streamerId }) => streamerId);
      const streamers = await this.streamers.lock(transaction, ids);
      const latest = await this.streams.readLatest(transaction, ids);
      const streamerOf = new Map(streamers.map((streamer) => [streamer.id, streamer]));
      const latestOf = new Map(latest.map((stream) => [stream.streamerId, stream]));
      const routine = polls.flatMap((poll) => {
        const streamer = streamerOf.get(poll.streamerId);
        if (!streamer || !isRoutine(streamer, latestOf.get(poll.streamerId), poll)) return [];
        const absence = poll.stream ? null : prolongAbsence(absenceOf(streamer), poll.at);
        return [{ ...poll, id: streamer.id, absentSince: absence?.since ?? null }];
      });
      if (routine.length > 0) {
        const nextPoll = { inMs: pollIntervalMs, claimedUntil };
        await this.streamers.savePolled(transaction, routine, { at, nextPoll });
        await this.streams.saveSeen(transaction, at, routine.filter(isSeen));
      }
      return new Set(routine.map(({ id }) => id));
    });
  }

  /** If recording fails, the streamer stays claimed until the claim expires, and the other polls are still recorded. */
  private async recordOne(poll: StreamerPoll): Promise<void> {
    try {
      await this.recordPoll(poll.streamerId, poll);
    } catch (error) {
      this.failureLog.warn('cannot record a poll, polling the streamer again within 30 s', {
        err: error,
        streamerId: poll.streamerId,
      });
    }
  }

  /** Saves a miss if the poll did not find the latest stream. Returns true while a first miss waits for a second one to confirm it. */
  private async saveMiss(
    transaction: EntityManager,
    streamer: MonitoredStreamer,
    { at, stream }: Poll,
  ): Promise<boolean> {
    const [latest] = await this.streams.readLatest(transaction, [streamer.id]);
    if (!latest || latest.streamId === stream?.streamId) return false;
    // If the poll sees the next stream, an earlier miss already shows when the latest one ended.
    if (stream && latest.missedAt !== null && latest.missedAt < stream.startedAt) return false;
    const missed = addMiss(latest, at);
    if (missed.missedAt !== latest.missedAt || missed.isMissConfirmed !== latest.isMissConfirmed)
      await this.streams.saveMisses(transaction, missed);
    return missed.missedAt !== null && !missed.isMissConfirmed;
  }
}

function isSeen<P extends Poll>(poll: P): poll is P & { stream: SeenStream } {
  return poll.stream !== null;
}
