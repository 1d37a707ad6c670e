import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  lateOfflineMs,
  streamRowId,
  type Announcement,
  type Milliseconds,
  type Misses,
  type OfflineFact,
  type StreamFacts,
} from './stream-facts.js';

/** The data source, or one of its transactions. */
export type Queries = Pick<EntityManager, 'query'>;

export interface RecordedStream extends StreamFacts {
  id: string;
  streamerId: string;
  endedAt: Milliseconds | null;
  announcedBy: string | null;
}

/** The part of a streamer's streams that `readWindow` selects, and the offline events that may end them. */
export interface StreamWindow {
  /** Sorted by start. */
  streams: RecordedStream[];
  offline: OfflineFact[];
}

/** A stream as an event announces it. */
export interface AnnouncedStream extends Announcement {
  /** The event's id. */
  eventId: string;
  streamId: string;
  type: string;
  userId: string;
  userLogin: string;
  userName: string;
}

/** A stream as a poll sees it. */
export interface SeenStream {
  streamId: string;
  startedAt: Milliseconds;
  userId: string;
  userLogin: string;
  userName: string;
  gameId: string;
  gameName: string;
  type: string;
  title: string;
  viewerCount: number;
  language: string;
  thumbnailUrl: string;
  tagIds: string | null;
  isMature: boolean;
}

export interface RecordedOffline extends OfflineFact {
  /** The event's id. */
  eventId: string;
}

/** Returns SQL that converts a timestamp to milliseconds since 1970. */
export function epochMilliseconds(column: string): string {
  return `floor(extract(epoch FROM ${column}) * 1000)::float8`;
}

const streamColumns = `id, streamer_id AS "streamerId", stream_id AS "streamId", announced_by AS "announcedBy",
  ${epochMilliseconds('started_at')} AS "startedAt", ${epochMilliseconds('ended_at')} AS "endedAt",
  ${epochMilliseconds('announced_at')} AS "announcedAt",
  ${epochMilliseconds('seen_at')} AS "seenAt", ${epochMilliseconds('missed_at')} AS "missedAt",
  is_miss_confirmed AS "isMissConfirmed"`;

// How far an event that names a stream may precede the stream's start, because clocks differ.
const clockTolerance = "interval '1 hour'";

/**
 * SQL condition: the offline event `old` is no longer needed. Resolving the ends again needs three kinds of events: those that name a
 * recorded stream, those that end a stream, and those so soon after a start that they may belong to the previous stream. For a week, all
 * events stay, because their streams may be announced late.
 */
export const isUnneededOffline = `old.occurred_at <= now() - interval '7 days' AND NOT EXISTS (
  SELECT FROM streams WHERE streams.streamer_id = old.streamer_id
    AND (streams.stream_id = old.stream_id OR streams.ended_at = old.occurred_at
      OR old.occurred_at - streams.started_at BETWEEN interval '0' AND interval '${lateOfflineMs} milliseconds')
)`;

/** Reads and writes the facts about streams. Callers must hold the streamer's lock in a transaction. */
@Injectable()
export class StreamsRepository {
  /** Returns each streamer's latest stream, if there is one. */
  async readLatest(queries: Queries, streamerIds: readonly string[]): Promise<RecordedStream[]> {
    return queries.query<RecordedStream[]>(
      `SELECT latest.* FROM unnest($1::uuid[]) AS wanted (id) CROSS JOIN LATERAL (
         SELECT ${streamColumns} FROM streams WHERE streamer_id = wanted.id
         ORDER BY started_at DESC, stream_id DESC LIMIT 1
       ) AS latest`,
      [streamerIds],
    );
  }

  async find(queries: Queries, streamerId: string, streamId: string): Promise<RecordedStream | undefined> {
    const [stream] = await queries.query<RecordedStream[]>(
      `SELECT ${streamColumns} FROM streams WHERE streamer_id = $1 AND stream_id = $2`,
      [streamerId, streamId],
    );
    return stream;
  }

  /**
   * Returns all facts that determine the ends of the streams from `from` on, and of the stream before them. Reaches back to a stream that
   * is independent of its predecessor, because no unnamed event occurred soon after its start (see `resolve-streams.ts`).
   */
  async readWindow(queries: Queries, streamerId: string, from: Milliseconds): Promise<StreamWindow> {
    const streams = await queries.query<RecordedStream[]>(
      `WITH first AS (
         SELECT coalesce((
           SELECT started_at FROM streams WHERE streamer_id = $1 AND started_at < $2 AND NOT EXISTS (
             SELECT FROM offline_events WHERE streamer_id = $1 AND stream_id IS NULL
               AND occurred_at >= started_at AND occurred_at < started_at + interval '${lateOfflineMs} milliseconds'
           ) ORDER BY started_at DESC LIMIT 1
         ), '-infinity') AS at
       )
       SELECT ${streamColumns} FROM streams WHERE streamer_id = $1 AND started_at >= (SELECT at FROM first)
       ORDER BY started_at, stream_id`,
      [streamerId, new Date(from)],
    );
    const [first] = streams;
    const offline = first
      ? await queries.query<OfflineFact[]>(
          `SELECT stream_id AS "streamId", ${epochMilliseconds('occurred_at')} AS at FROM offline_events
           WHERE streamer_id = $1 AND occurred_at >= $2::timestamptz - ${clockTolerance}`,
          [streamerId, new Date(first.startedAt)],
        )
      : [];
    return { streams, offline };
  }

  /** Saves announced streams with the earliest reported start, the latest announcement, and the given misses of each. */
  async saveAnnounced(
    queries: Queries,
    streamerId: string,
    announced: readonly (AnnouncedStream & Misses)[],
  ): Promise<void> {
    const rows = announced.map((stream) => ({
      ...stream,
      id: streamRowId(stream.userId, stream.streamId, stream.startedAt),
      startedAt: new Date(stream.startedAt),
      announcedAt: new Date(stream.announcedAt),
      missedAt: stream.missedAt === null ? null : new Date(stream.missedAt),
    }));
    await queries.query(saveAnnouncedStreams, [streamerId, JSON.stringify(rows)]);
  }

  /** Saves the streams that a poll saw, and adds a sample to the history of each one that has changed. */
  async saveSeen(
    queries: Queries,
    at: Milliseconds,
    seen: readonly { streamerId: string; stream: SeenStream }[],
  ): Promise<void> {
    if (seen.length === 0) return;
    const rows = JSON.stringify(
      seen.map(({ streamerId, stream }) => ({
        ...stream,
        id: streamRowId(stream.userId, stream.streamId, stream.startedAt),
        streamerId,
        startedAt: new Date(stream.startedAt),
      })),
    );
    await queries.query(saveSeenStreams, [rows, new Date(at)]);
    await queries.query(saveSamples, [rows, new Date(at)]);
  }

  async saveMisses(queries: Queries, { id, missedAt, isMissConfirmed }: RecordedStream): Promise<void> {
    await queries.query('UPDATE streams SET missed_at = $2, is_miss_confirmed = $3 WHERE id = $1', [
      id,
      missedAt === null ? null : new Date(missedAt),
      isMissConfirmed,
    ]);
  }

  /** Idempotent by the event's id. */
  async saveOffline(
    queries: Queries,
    streamerId: string,
    offline: readonly RecordedOffline[],
  ): Promise<void> {
    await queries.query(
      `INSERT INTO offline_events (id, streamer_id, stream_id, occurred_at)
       SELECT offline.id, $1, offline.stream_id, offline.occurred_at
       FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) AS offline (id, stream_id, occurred_at)
       ON CONFLICT DO NOTHING`,
      [
        streamerId,
        offline.map(({ eventId }) => eventId),
        offline.map(({ streamId }) => streamId),
        offline.map(({ at }) => new Date(at)),
      ],
    );
  }

  /** Deletes a streamer's offline events that are no longer needed. */
  async forgetOffline(queries: Queries, streamerId: string): Promise<void> {
    await queries.query(`DELETE FROM offline_events AS old WHERE streamer_id = $1 AND ${isUnneededOffline}`, [
      streamerId,
    ]);
  }

  async saveEnds(queries: Queries, ends: readonly Pick<RecordedStream, 'id' | 'endedAt'>[]): Promise<void> {
    if (ends.length === 0) return;
    await queries.query(
      `UPDATE streams SET ended_at = ends.ended_at
       FROM unnest($1::uuid[], $2::timestamptz[]) AS ends (id, ended_at) WHERE streams.id = ends.id`,
      [ends.map(({ id }) => id), ends.map(({ endedAt }) => (endedAt === null ? null : new Date(endedAt)))],
    );
  }
}

const saveAnnouncedStreams = `
  INSERT INTO streams (id, streamer_id, stream_id, user_id, user_login, user_name, game_id, game_name, type, title, viewer_count,
    started_at, language, thumbnail_url, is_mature, announced_by, announced_at, missed_at, is_miss_confirmed)
  SELECT id, $1, "streamId", "userId", "userLogin", "userName", '', '', type, '', 0, "startedAt", '', '', false, "eventId",
    "announcedAt", "missedAt", "isMissConfirmed"
  FROM json_to_recordset($2::json) AS announced (id uuid, "eventId" uuid, "streamId" text, "startedAt" timestamptz, type text,
    "userId" text, "userLogin" text, "userName" text, "announcedAt" timestamptz, "missedAt" timestamptz, "isMissConfirmed" boolean)
  ON CONFLICT ON CONSTRAINT streams_streamer_stream_unique DO UPDATE SET
    started_at = least(streams.started_at, excluded.started_at),
    announced_by = least(streams.announced_by, excluded.announced_by),
    announced_at = greatest(streams.announced_at, excluded.announced_at),
    missed_at = excluded.missed_at, is_miss_confirmed = excluded.is_miss_confirmed`;

const seenRows = `json_to_recordset($1::json) AS seen (id uuid, "streamerId" uuid, "streamId" text, "userId" text,
  "userLogin" text, "userName" text, "gameId" text, "gameName" text, type text, title text, "viewerCount" integer,
  "startedAt" timestamptz, language text, "thumbnailUrl" text, "tagIds" text, "isMature" boolean)`;

const saveSeenStreams = `
  INSERT INTO streams (id, streamer_id, stream_id, user_id, user_login, user_name, game_id, game_name, type, title, viewer_count,
    started_at, language, thumbnail_url, tag_ids, is_mature, seen_at, is_miss_confirmed)
  SELECT id, "streamerId", "streamId", "userId", "userLogin", "userName", "gameId", "gameName", type, title, "viewerCount",
    "startedAt", language, "thumbnailUrl", "tagIds", "isMature", $2, false
  FROM ${seenRows}
  ON CONFLICT ON CONSTRAINT streams_streamer_stream_unique DO UPDATE SET
    user_login = excluded.user_login, user_name = excluded.user_name, game_id = excluded.game_id,
    game_name = excluded.game_name, type = excluded.type, title = excluded.title, viewer_count = excluded.viewer_count,
    started_at = least(streams.started_at, excluded.started_at), language = excluded.language,
    thumbnail_url = excluded.thumbnail_url, tag_ids = excluded.tag_ids, is_mature = excluded.is_mature,
    seen_at = excluded.seen_at, missed_at = NULL, is_miss_confirmed = false`;

// Adds a sample at once when the title or category has changed; when only viewers have changed, at most once a minute, which is enough for
// charts. If the last sample is from the future (a clock was set back), it does not delay the next one.
const saveSamples = `
  INSERT INTO stream_samples (stream, at, viewer_count, title, game_id, game_name)
  SELECT streams.id, $2, seen."viewerCount", seen.title, seen."gameId", seen."gameName"
  FROM ${seenRows}
  JOIN streams ON streams.streamer_id = seen."streamerId" AND streams.stream_id = seen."streamId"
  LEFT JOIN LATERAL (
    SELECT * FROM stream_samples WHERE stream = streams.id ORDER BY at DESC LIMIT 1
  ) AS last ON true
  WHERE last.at IS NULL OR last.title <> seen.title OR last.game_id <> seen."gameId"
    OR (last.viewer_count <> seen."viewerCount" AND last.at NOT BETWEEN $2::timestamptz - interval '1 minute' AND $2::timestamptz)
  ON CONFLICT DO NOTHING`;
