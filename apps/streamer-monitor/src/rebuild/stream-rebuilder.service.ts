import { Injectable } from '@nestjs/common';
import { firstIdAt, receivedAt } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import { absenceOf, MonitoredStreamersRepository } from '../streamers/monitored-streamers.repository.js';
import { missesBeforeKnown, type Milliseconds } from '../streams/stream-facts.js';
import { StreamRecorder, type StreamEvent } from '../streams/stream-recorder.service.js';
import {
  StreamsRepository,
  type AnnouncedStream,
  type RecordedOffline,
  type RecordedStream,
} from '../streams/streams.repository.js';
import { EventLog } from './event-log.js';

// An event may be recorded while the log is being read, or a little before it can be read there.
const tooFreshMs = 60_000;

/** The ids that events have which the log must hold, if they are true: from its oldest event on, until it was read. */
interface LogRange {
  from: string;
  until: string;
}

/**
 * Makes what events have said about a streamer anew from the event log. What polls have said stays, and so does what is older
 * than the log. Streamers who are disabled are left alone: what is said of them does not count.
 */
@Injectable()
export class StreamRebuilder {
  constructor(
    private readonly dataSource: DataSource,
    private readonly log: EventLog,
    private readonly streamers: MonitoredStreamersRepository,
    private readonly streams: StreamsRepository,
    private readonly recorder: StreamRecorder,
  ) {}

  /** Says how many streams were added, changed or removed. */
  async rebuild(platformId: string): Promise<number> {
    const until = firstIdAt(Date.now() - tooFreshMs);
    const events = await this.log.read(platformId);
    const online = events.flatMap((event) => (event.kind === 'online' ? [event.stream] : []));
    const offline = events.flatMap((event) => (event.kind === 'offline' ? [event.offline] : []));
    const range = { from: findOldest(events), until };
    return this.dataSource.transaction(async (transaction) => {
      const streamer = await this.streamers.lockByPlatformId(transaction, platformId);
      if (!streamer) return 0;
      const before = await this.readAll(transaction, streamer.id);
      await removeUnsaid(transaction, { streamerId: streamer.id, online, offline, range });
      const absence = absenceOf(streamer);
      const announced = mergeAnnouncements(online).map((stream) => ({
        ...stream,
        ...missesBeforeKnown(stream.startedAt, absence),
      }));
      await this.streams.saveAnnounced(transaction, streamer.id, announced);
      await this.streams.saveOffline(transaction, streamer.id, offline);
      const latest = await this.recorder.resolve(transaction, streamer.id, 0);
      const changed = countDifferences(before, await this.readAll(transaction, streamer.id));
      const streaming = streamer.isStreamingKnown ? latest?.endedAt === null : streamer.streaming;
      const isVisible = streaming !== streamer.streaming;
      if (isVisible)
        await this.streamers.save(
          transaction,
          { ...streamer, streaming },
          { isVisible, nextPoll: undefined },
        );
      return changed;
    });
  }

  private async readAll(transaction: EntityManager, streamerId: string): Promise<RecordedStream[]> {
    return (await this.streams.readWindow(transaction, streamerId, 0)).streams;
  }
}

/** Removes what events are said to have said, and have not. */
async function removeUnsaid(
  transaction: EntityManager,
  {
    streamerId,
    online,
    offline,
    range,
  }: {
    streamerId: string;
    online: readonly AnnouncedStream[];
    offline: readonly RecordedOffline[];
    range: LogRange;
  },
): Promise<void> {
  await transaction.query(
    `DELETE FROM offline_events WHERE streamer_id = $1 AND id >= $2 AND id < $3 AND id <> ALL($4::uuid[])`,
    [streamerId, range.from, range.until, offline.map(({ eventId }) => eventId)],
  );
  await transaction.query(
    `DELETE FROM streams WHERE streamer_id = $1 AND announced_by >= $2 AND announced_by < $3 AND seen_at IS NULL
       AND stream_id <> ALL($4::text[])`,
    [streamerId, range.from, range.until, online.map(({ streamId }) => streamId)],
  );
}

/** Of several announcements of a stream, what is the least of each. */
function mergeAnnouncements(online: readonly AnnouncedStream[]): AnnouncedStream[] {
  const merged = new Map<string, AnnouncedStream>();
  for (const stream of online) {
    const known = merged.get(stream.streamId) ?? stream;
    merged.set(stream.streamId, {
      ...known,
      startedAt: Math.min(known.startedAt, stream.startedAt),
      eventId: known.eventId < stream.eventId ? known.eventId : stream.eventId,
    });
  }
  return [...merged.values()];
}

/** The smallest id that an event of the log's time can have; without events, one that none has. */
function findOldest(events: readonly StreamEvent[]): string {
  const times: Milliseconds[] = events.map((event) =>
    receivedAt(event.kind === 'online' ? event.stream.eventId : event.offline.eventId),
  );
  return firstIdAt(times.reduce((oldest, time) => Math.min(oldest, time), Infinity));
}

function countDifferences(before: readonly RecordedStream[], after: readonly RecordedStream[]): number {
  const print = ({ streamId, startedAt, endedAt }: RecordedStream): string =>
    JSON.stringify([streamId, startedAt, endedAt]);
  const known = new Map(before.map((stream) => [stream.streamId, print(stream)]));
  const remaining = new Set(after.map(({ streamId }) => streamId));
  const changed = after.filter((stream) => known.get(stream.streamId) !== print(stream)).length;
  return changed + before.filter(({ streamId }) => !remaining.has(streamId)).length;
}
