import { Injectable } from '@nestjs/common';
import {
  findNeighbours,
  maxStreamSamples,
  type ListPosition,
  type ListStreamsReply,
  type ListStreamsRequest,
  type LiveStreamMessage,
  type StreamMessage,
  type StreamSampleMessage,
  type StreamViewersReply,
} from '@stream-events/contracts';
import { DataSource } from 'typeorm';
import { samplesKeptFor } from './stream-sample.entity.js';
import { epochMilliseconds } from './streams.repository.js';

const messageColumns = `id, stream_id AS "streamId", user_id AS "userId", user_login AS "userLogin", user_name AS "userName",
  game_id AS "gameId", game_name AS "gameName", type, title, viewer_count AS "viewerCount",
  ${epochMilliseconds('started_at')} AS "startedAt", ${epochMilliseconds('ended_at')} AS "endedAt",
  language, thumbnail_url AS "thumbnailUrl", tag_ids AS "tagIds", is_mature AS "isMature"`;

@Injectable()
export class StreamListRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Returns one page, newest first, with the cursors of its neighbors and the total number of streams. Returns null when the streamer does
   * not exist.
   */
  async list({ streamerId, pageSize, position }: ListStreamsRequest): Promise<ListStreamsReply | null> {
    const count = await this.count(streamerId);
    if (count === null) return null;
    const isOlder = position?.direction !== 'newer';
    const rows = await this.readRows(streamerId, pageSize + 1, position);
    const streams = rows.slice(0, pageSize);
    const continueAfter = rows.length > pageSize ? (streams.at(-1)?.id ?? null) : null;
    const neighbours = findNeighbours(position, { firstId: streams[0]?.id, continueAfter });
    return { streams: isOlder ? streams : streams.reverse(), count, ...neighbours };
  }

  async findLatest(streamerId: string): Promise<StreamMessage | null> {
    const [latest] = await this.readRows(streamerId, 1, undefined);
    return latest ?? null;
  }

  /** Returns the running streams of these platform users, without those of disabled streamers. */
  async findLive(platformIds: readonly string[]): Promise<LiveStreamMessage[]> {
    return this.dataSource.query<LiveStreamMessage[]>(
      `SELECT platform_id AS "platformId", platform_username AS "platformUsername"
       FROM streamers JOIN streams ON streamer_id = streamers.id AND ended_at IS NULL
       WHERE platform_id = ANY($1) AND NOT disabled`,
      [platformIds],
    );
  }

  /**
   * Returns a stream's samples, oldest first; null when the stream does not exist. Thins out a long history evenly to at most
   * `maxStreamSamples`.
   */
  async readHistory(streamerId: string, streamRow: string): Promise<StreamSampleMessage[] | null> {
    const streams = await this.dataSource.query<unknown[]>(
      'SELECT FROM streams WHERE id = $1 AND streamer_id = $2',
      [streamRow, streamerId],
    );
    if (streams.length === 0) return null;
    // Take every nth sample and the last one.
    return this.dataSource.query<StreamSampleMessage[]>(
      `WITH numbered AS (
         SELECT at, row_number() OVER (ORDER BY at) - 1 AS place, count(*) OVER () AS total
         FROM stream_samples WHERE stream = $1
       ), chosen AS (
         SELECT at FROM numbered WHERE place % ceil(total / ${maxStreamSamples - 1}::numeric)::bigint = 0 OR place = total - 1
       )
       SELECT ${epochMilliseconds('at')} AS at, viewer_count AS "viewerCount", title, game_id AS "gameId",
              game_name AS "gameName"
       FROM chosen JOIN stream_samples USING (at) WHERE stream = $1 ORDER BY stream_samples.at`,
      [streamRow],
    );
  }

  /** Returns a stream with its peak and average viewers; null when it does not exist. */
  async findWithViewers(streamerId: string, streamRow: string): Promise<StreamViewersReply | null> {
    // A sample counts until the next one. The last one counts until the end of the stream or, while the stream runs, until the last poll
    // that saw it. Samples after the end do not count: the platform may list a stream for minutes after its end.
    const [row] = await this.dataSource.query<(StreamMessage & Omit<StreamViewersReply, 'stream'>)[]>(
      `SELECT ${messageColumns}, peak, average FROM streams
       CROSS JOIN LATERAL (
         SELECT max(viewer_count) AS peak,
           coalesce(sum(viewer_count * seconds) / nullif(sum(seconds), 0), avg(viewer_count))::float8 AS average
         FROM (
           SELECT viewer_count, extract(epoch FROM coalesce(
             least(lead(at) OVER (ORDER BY at), streams.ended_at), greatest(streams.seen_at, at)
           ) - at) AS seconds
           FROM stream_samples WHERE stream = streams.id AND (streams.ended_at IS NULL OR at <= streams.ended_at)
             -- The first samples of an older stream were removed, and the remaining ones would give wrong numbers.
             AND streams.started_at >= now() - ${samplesKeptFor}
         ) AS samples (viewer_count, seconds)
       ) AS viewers
       WHERE streams.id = $1 AND streamer_id = $2`,
      [streamRow, streamerId],
    );
    if (!row) return null;
    const { peak, average, ...stream } = row;
    return { stream, peak, average };
  }

  private async count(streamerId: string): Promise<number | null> {
    const [row] = await this.dataSource.query<{ count: number }[]>(
      `SELECT (SELECT count(*)::int FROM streams WHERE streamer_id = streamers.id) AS count FROM streamers WHERE id = $1`,
      [streamerId],
    );
    return row?.count ?? null;
  }

  /** Returns the rows in the direction of paging. */
  private async readRows(
    streamerId: string,
    limit: number,
    position: ListPosition | undefined,
  ): Promise<StreamMessage[]> {
    const isOlder = position?.direction !== 'newer';
    const order = isOlder ? 'DESC' : 'ASC';
    const beyond = `AND id ${isOlder ? '<' : '>'}${position?.inclusive ? '=' : ''} $3`;
    return this.dataSource.query<StreamMessage[]>(
      `SELECT ${messageColumns} FROM streams WHERE streamer_id = $1 ${position ? beyond : ''} ORDER BY id ${order} LIMIT $2`,
      [streamerId, limit, ...(position ? [position.id] : [])],
    );
  }
}
