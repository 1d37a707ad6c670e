import { Injectable } from '@nestjs/common';
import { receivedAt } from '@stream-events/contracts';
import { DataSource, type EntityManager } from 'typeorm';
import { absenceOf, MonitoredStreamersRepository } from '../streams/monitored-streamers.repository.js';
import { missesOnceAnnounced } from '../streams/stream-facts.js';
import { StreamRecorder } from '../streams/stream-recorder.service.js';
import {
  StreamsRepository,
  type AnnouncedStream,
  type RecordedStream,
} from '../streams/streams.repository.js';
import { EventLog } from './event-log.js';

/**
 * Replaces the facts recorded from a streamer's events with the facts from the event log. Keeps facts from polls, and facts older than the
 * log, whose oldest events retention has removed. Skips disabled streamers, because the monitor ignores their events.
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

  /** Rebuilds one streamer's streams, and returns how many were added, changed, or removed. */
  async rebuild(platformId: string): Promise<number> {
    // Read the records before the log: the log stores each event first, so it then contains every recorded event, even when more arrive.
    const recorded = await this.readRecorded(platformId);
    const { events, ids } = await this.log.read(platformId);
    // Read the id of the oldest event last: whatever retention removes during the read is older than `oldestId`.
    const oldestId = await this.log.readOldestId();
    const online = events.flatMap((event) => (event.kind === 'online' ? [event.stream] : []));
    const offline = events.flatMap((event) => (event.kind === 'offline' ? [event.offline] : []));
    const missingIds = findMissingFromLog(recorded, ids, oldestId);
    return this.dataSource.transaction(async (transaction) => {
      const streamer = await this.streamers.lockByPlatformId(transaction, platformId);
      if (!streamer) return 0;
      const before = await this.readAll(transaction, streamer.id);
      await removeMissingFromLog(transaction, { streamerId: streamer.id, missingIds, online });
      const absence = absenceOf(streamer);
      const known = new Map(before.map((stream) => [stream.streamId, stream]));
      const announced = mergeAnnouncements(online).map((stream) => {
        const { missedAt, isMissConfirmed } = missesOnceAnnounced(
          known.get(stream.streamId),
          stream,
          absence,
        );
        return { ...stream, missedAt, isMissConfirmed };
      });
      await this.streams.saveAnnounced(transaction, streamer.id, announced);
      await this.streams.saveOffline(transaction, streamer.id, offline);
      const latest = await this.recorder.resolve(transaction, streamer.id, 0);
      // Delete unneeded offline events here: maintenance only looks at the last 14 days, and a rebuild also records older events again.
      await this.streams.forgetOffline(transaction, streamer.id);
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

  /** Returns the ids of the events behind the recorded streams and ends. */
  private async readRecorded(platformId: string): Promise<string[]> {
    const rows = await this.dataSource.query<{ id: string }[]>(
      `SELECT recorded.id FROM streamers CROSS JOIN LATERAL (
         SELECT id FROM offline_events WHERE streamer_id = streamers.id
         UNION ALL
         SELECT announced_by FROM streams WHERE streamer_id = streamers.id AND announced_by IS NOT NULL
       ) AS recorded WHERE platform_id = $1`,
      [platformId],
    );
    return rows.map(({ id }) => id);
  }

  private async readAll(transaction: EntityManager, streamerId: string): Promise<RecordedStream[]> {
    return (await this.streams.readWindow(transaction, streamerId, 0)).streams;
  }
}

/**
 * Returns the recorded events that the log lacks although they are not older than the log itself or its oldest event about the streamer.
 *
 * @param oldestId the oldest event of the whole log; undefined when the log is empty, which contradicts no recorded event
 */
function findMissingFromLog(
  recorded: readonly string[],
  logged: ReadonlySet<string>,
  oldestId: string | undefined,
): string[] {
  const oldest = [...logged].reduce((least, id) => Math.min(least, receivedAt(id)), Infinity);
  const begin = oldestId === undefined ? Infinity : Math.max(oldest, receivedAt(oldestId));
  return recorded.filter((id) => receivedAt(id) >= begin && !logged.has(id));
}

/** Removes the facts recorded from these events, but keeps streams that a poll has seen or another event has announced. */
async function removeMissingFromLog(
  transaction: EntityManager,
  {
    streamerId,
    missingIds,
    online,
  }: { streamerId: string; missingIds: readonly string[]; online: readonly AnnouncedStream[] },
): Promise<void> {
  await transaction.query('DELETE FROM offline_events WHERE streamer_id = $1 AND id = ANY($2::uuid[])', [
    streamerId,
    missingIds,
  ]);
  await transaction.query(
    `DELETE FROM streams WHERE streamer_id = $1 AND announced_by = ANY($2::uuid[]) AND seen_at IS NULL
       AND stream_id <> ALL($3::text[])`,
    [streamerId, missingIds, online.map(({ streamId }) => streamId)],
  );
}

/** Merges the announcements of each stream into one with the earliest start, the latest time, and the lowest event id. */
function mergeAnnouncements(online: readonly AnnouncedStream[]): AnnouncedStream[] {
  const merged = new Map<string, AnnouncedStream>();
  for (const stream of online) {
    const known = merged.get(stream.streamId) ?? stream;
    merged.set(stream.streamId, {
      ...known,
      startedAt: Math.min(known.startedAt, stream.startedAt),
      announcedAt: Math.max(known.announcedAt, stream.announcedAt),
      eventId: known.eventId < stream.eventId ? known.eventId : stream.eventId,
    });
  }
  return [...merged.values()];
}

function countDifferences(before: readonly RecordedStream[], after: readonly RecordedStream[]): number {
  const toText = ({ streamId, startedAt, endedAt }: RecordedStream): string =>
    JSON.stringify([streamId, startedAt, endedAt]);
  const known = new Map(before.map((stream) => [stream.streamId, toText(stream)]));
  const remaining = new Set(after.map(({ streamId }) => streamId));
  const changed = after.filter((stream) => known.get(stream.streamId) !== toText(stream)).length;
  return changed + before.filter(({ streamId }) => !remaining.has(streamId)).length;
}
