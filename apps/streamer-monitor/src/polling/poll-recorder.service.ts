import { Inject, Injectable } from '@nestjs/common';
import type { LookUpStreamsReply } from '@stream-events/contracts';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';
import { DataSource } from 'typeorm';
import { absenceOf, MonitoredStreamersRepository } from '../streamers/monitored-streamers.repository.js';
import { prolongAbsence, type Milliseconds } from '../streams/stream-facts.js';
import { pollIntervalMs, StreamRecorder, type Poll } from '../streams/stream-recorder.service.js';
import { StreamsRepository, type SeenStream } from '../streams/streams.repository.js';
import type { Claim } from './claims.repository.js';
import { isRoutine } from './routine-poll.js';
import { toSeenStream } from './seen-stream.js';

/** One streamer's share of a batch. */
interface StreamerPoll extends Poll {
  streamerId: string;
}

/** Writes down what the platform answered about a batch of streamers. */
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

  /** Those of whom nothing is new in a few statements together, the others one by one; says how many these were. */
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

  /** Says for whom it is done. */
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

  /** A streamer that fails stays claimed, so that it is due again soon, and keeps no other from being written down. */
  private async recordOne(poll: StreamerPoll): Promise<void> {
    try {
      await this.recorder.recordPoll(poll.streamerId, poll);
    } catch (error) {
      this.failureLog.warn('a poll could not be written down: the streamer is polled again', {
        err: error,
        streamerId: poll.streamerId,
      });
    }
  }
}

function isSeen<P extends Poll>(poll: P): poll is P & { stream: SeenStream } {
  return poll.stream !== null;
}
