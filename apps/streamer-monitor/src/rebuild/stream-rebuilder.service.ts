import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import { absenceOf, MonitoredStreamersRepository } from '../streams/monitored-streamers.repository.js';
import { missesBeforeKnown } from '../streams/stream-facts.js';
import { StreamRecorder, type StreamEvent } from '../streams/stream-recorder.service.js';
import {
  StreamsRepository,
  type AnnouncedStream,
  type RecordedStream,
} from '../streams/streams.repository.js';
import { EventLog } from './event-log.js';

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
    // Before the log is read: an event is in the log before it is recorded here, and more may come meanwhile.
    const recorded = await this.readRecorded(platformId);
    const events = await this.log.read(platformId);
    const online = events.flatMap((event) => (event.kind === 'online' ? [event.stream] : []));
    const offline = events.flatMap((event) => (event.kind === 'offline' ? [event.offline] : []));
    const unsaid = findUnsaid(recorded, events);
    return this.dataSource.transaction(async (transaction) => {
      const streamer = await this.streamers.lockByPlatformId(transaction, platformId);
      if (!streamer) return 0;
      const before = await this.readAll(transaction, streamer.id);
      await removeUnsaid(transaction, { streamerId: streamer.id, unsaid, online });
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

  /** The ids of the events that are recorded as having said something. */
  private async readRecorded(platformId: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT said.id FROM streamers CROSS JOIN LATERAL (
         SELECT id FROM offline_events WHERE streamer_id = streamers.id
         UNION ALL
         SELECT announced_by FROM streams WHERE streamer_id = streamers.id AND announced_by IS NOT NULL
       ) AS said WHERE platform_id = $1`,
      [platformId],
    );
    return rows.map(({ id }) => id);
  }

  private async readAll(transaction: EntityManager, streamerId: string): Promise<RecordedStream[]> {
    return (await this.streams.readWindow(transaction, streamerId, 0)).streams;
  }
}

/** The events that the log must hold, if they are true, and does not hold. What is older than the log may have left it. */
function findUnsaid(recorded: readonly string[], events: readonly StreamEvent[]): string[] {
  const said = new Set(events.map(eventIdOf));
  const oldest = [...said].reduce((least, id) => Math.min(least, receivedAt(id)), Infinity);
  return recorded.filter((id) => receivedAt(id) >= oldest && !said.has(id));
}

function eventIdOf(event: StreamEvent): string {
  return event.kind === 'online' ? event.stream.eventId : event.offline.eventId;
}

/** Removes what these events are wrongly recorded to have said; a stream stays that polls have seen, or another event has announced. */
async function removeUnsaid(
  transaction: EntityManager,
  {
    streamerId,
    unsaid,
    online,
  }: { streamerId: string; unsaid: readonly string[]; online: readonly AnnouncedStream[] },
): Promise<void> {
  await transaction.query('DELETE FROM offline_events WHERE streamer_id = $1 AND id = ANY($2::uuid[])', [
    streamerId,
    unsaid,
  ]);
  await transaction.query(
    `DELETE FROM streams WHERE streamer_id = $1 AND announced_by = ANY($2::uuid[]) AND seen_at IS NULL
       AND stream_id <> ALL($3::text[])`,
    [streamerId, unsaid, online.map(({ streamId }) => streamId)],
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

function countDifferences(before: readonly RecordedStream[], after: readonly RecordedStream[]): number {
  const print = ({ streamId, startedAt, endedAt }: RecordedStream): string =>
    JSON.stringify([streamId, startedAt, endedAt]);
  const known = new Map(before.map((stream) => [stream.streamId, print(stream)]));
  const remaining = new Set(after.map(({ streamId }) => streamId));
  const changed = after.filter((stream) => known.get(stream.streamId) !== print(stream)).length;
  return changed + before.filter(({ streamId }) => !remaining.has(streamId)).length;
}
