import { Injectable } from '@nestjs/common';
import type { Absence, Milliseconds } from './stream-facts.js';
import { epochMilliseconds, type Queries } from './streams.repository.js';

/** A streamer who is monitored, as what is heard of the platform changes it. */
export interface MonitoredStreamer {
  id: string;
  platformId: string;
  platformUsername: string;
  namedAt: Milliseconds;
  streaming: boolean;
  isStreamingKnown: boolean;
  polledAt: Milliseconds | null;
  absentSince: Milliseconds | null;
}

/** The next look at a streamer: so soon, and not later than what is planned, unless that plan was the claim of who plans now. */
export interface NextPoll {
  inMs: number;
  /** The claim under which the streamer was polled; null: it was not. */
  claimedUntil: Milliseconds | null;
}

const columns = `id, platform_id AS "platformId", platform_username AS "platformUsername",
  ${epochMilliseconds('named_at')} AS "namedAt", streaming, is_streaming_known AS "isStreamingKnown",
  ${epochMilliseconds('polled_at')} AS "polledAt", ${epochMilliseconds('absent_since')} AS "absentSince"`;

/** Locks and changes streamers who are monitored: whoever is disabled or deleted is not there. */
@Injectable()
export class MonitoredStreamersRepository {
  /** Keeps everybody else from changing the streamer, and its streams, until the transaction ends. */
  async lockByPlatformId(queries: Queries, platformId: string): Promise<MonitoredStreamer | undefined> {
    const [streamer] = await queries.query<MonitoredStreamer[]>(
      `SELECT ${columns} FROM streamers WHERE platform_id = $1 AND NOT disabled FOR UPDATE`,
      [platformId],
    );
    return streamer;
  }

  /** The same for several, in an order in which nobody waits for each other. */
  async lock(queries: Queries, ids: readonly string[]): Promise<MonitoredStreamer[]> {
    return queries.query<MonitoredStreamer[]>(
      `SELECT ${columns} FROM streamers WHERE id = ANY($1::uuid[]) AND NOT disabled ORDER BY id FOR UPDATE`,
      [ids],
    );
  }

  /** Writes down how a locked streamer is now. What callers see of it has changed when `isVisible`. */
  async save(
    queries: Queries,
    streamer: MonitoredStreamer,
    { isVisible, nextPoll }: { isVisible: boolean; nextPoll: NextPoll | undefined },
  ): Promise<void> {
    const { id, platformUsername, namedAt, streaming, isStreamingKnown, polledAt, absentSince } = streamer;
    await queries.query(
      `UPDATE streamers SET platform_username = $2, named_at = $3, streaming = $4, is_streaming_known = $5, polled_at = $6,
         absent_since = $7, updated_at = CASE WHEN $8 THEN now() ELSE updated_at END,
         next_poll_at = CASE
           WHEN $9::float8 IS NULL THEN next_poll_at
           WHEN next_poll_at = $10 THEN now() + $9 * interval '1 millisecond'
           ELSE least(next_poll_at, now() + $9 * interval '1 millisecond') END
       WHERE id = $1`,
      [
        id,
        platformUsername,
        new Date(namedAt),
        streaming,
        isStreamingKnown,
        toDate(polledAt),
        toDate(absentSince),
        isVisible,
        nextPoll?.inMs ?? null,
        toDate(nextPoll?.claimedUntil ?? null),
      ],
    );
  }

  /** Notes a poll that has changed nothing that callers see, for many locked streamers at once. */
  async savePolled(
    queries: Queries,
    streamers: readonly Pick<MonitoredStreamer, 'id' | 'absentSince'>[],
    { at, nextPoll }: { at: Milliseconds; nextPoll: NextPoll },
  ): Promise<void> {
    await queries.query(
      `UPDATE streamers SET polled_at = $3, absent_since = polled.absent_since, is_streaming_known = true,
         next_poll_at = CASE WHEN next_poll_at = $5 THEN now() + $4 * interval '1 millisecond'
           ELSE least(next_poll_at, now() + $4 * interval '1 millisecond') END
       FROM unnest($1::uuid[], $2::timestamptz[]) AS polled (id, absent_since) WHERE streamers.id = polled.id`,
      [
        streamers.map(({ id }) => id),
        streamers.map(({ absentSince }) => toDate(absentSince)),
        new Date(at),
        nextPoll.inMs,
        toDate(nextPoll.claimedUntil),
      ],
    );
  }
}

/** The polls in a row that have not found the streamer live. */
export function absenceOf({ absentSince, polledAt }: MonitoredStreamer): Absence | null {
  return absentSince === null || polledAt === null ? null : { since: absentSince, until: polledAt };
}

/** The streamer under the name that the platform said at some time; an older word of it, which comes late, changes nothing. */
export function rename(streamer: MonitoredStreamer, login: string, at: Milliseconds): MonitoredStreamer {
  if (login === '' || at < streamer.namedAt) return streamer;
  const isSame = login.toLowerCase() === streamer.platformUsername.toLowerCase();
  return isSame ? streamer : { ...streamer, platformUsername: login, namedAt: at };
}

function toDate(milliseconds: Milliseconds | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds);
}
