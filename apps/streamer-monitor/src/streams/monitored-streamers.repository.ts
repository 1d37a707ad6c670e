import { Injectable } from '@nestjs/common';
import type { Absence, Milliseconds } from './stream-facts.js';
import { epochMilliseconds, type Queries } from './streams.repository.js';

/** What events and polls change about a streamer. */
export interface MonitoredStreamer {
  id: string;
  platformId: string;
  platformUsername: string;
  namedAt: Milliseconds;
  streaming: boolean;
  isStreamingKnown: boolean;
  polledAt: Milliseconds | null;
  absentSince: Milliseconds | null;
  nextPollAt: Milliseconds;
}

/** When to poll a streamer next. An earlier due time stays, unless it is just the end of the claim under which the streamer was polled. */
export interface NextPoll {
  inMs: number;
  /** The end of the claim under which the streamer was polled; null when it was not polled. */
  claimedUntil: Milliseconds | null;
}

const columns = `id, platform_id AS "platformId", platform_username AS "platformUsername",
  ${epochMilliseconds('named_at')} AS "namedAt", streaming, is_streaming_known AS "isStreamingKnown",
  ${epochMilliseconds('polled_at')} AS "polledAt", ${epochMilliseconds('absent_since')} AS "absentSince",
  ${epochMilliseconds('next_poll_at')} AS "nextPollAt"`;

// How far in the future a recorded name may be: the gateway accepts platform messages whose time is up to 10 min ahead.
const maxAheadMs = 10 * 60_000;

/** Locks and updates streamers, except disabled ones. */
@Injectable()
export class MonitoredStreamersRepository {
  /** Locks a streamer until the transaction ends. The lock also guards its streams. Returns undefined when it is not monitored. */
  async lockByPlatformId(queries: Queries, platformId: string): Promise<MonitoredStreamer | undefined> {
    const [streamer] = await queries.query<MonitoredStreamer[]>(
      `SELECT ${columns} FROM streamers WHERE platform_id = $1 AND NOT disabled FOR UPDATE`,
      [platformId],
    );
    return streamer;
  }

  /** Locks and returns streamers, in id order, so that two batches cannot deadlock. */
  async lock(queries: Queries, ids: readonly string[]): Promise<MonitoredStreamer[]> {
    return queries.query<MonitoredStreamer[]>(
      `SELECT ${columns} FROM streamers WHERE id = ANY($1::uuid[]) AND NOT disabled ORDER BY id FOR UPDATE`,
      [ids],
    );
  }

  /** Saves a locked streamer, and sets `updated_at` if `isVisible`, which means that fields in the API have changed. */
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

  /** Saves polls of many locked streamers in one statement, if the polls changed no visible field. */
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

/** Returns the unbroken series of polls that have not found the streamer live; null when the latest poll did, or without a poll. */
export function absenceOf({ absentSince, polledAt }: MonitoredStreamer): Absence | null {
  return absentSince === null || polledAt === null ? null : { since: absentSince, until: polledAt };
}

/**
 * Returns the streamer with the username `login`, which the platform reported at `at`. Returns the streamer unchanged if `login` is empty
 * or differs only in case, or if the known username is newer.
 */
export function rename(streamer: MonitoredStreamer, login: string, at: Milliseconds): MonitoredStreamer {
  // A name from the future was recorded before a clock was set back, so its age is not known.
  const namedAt = streamer.namedAt > Date.now() + maxAheadMs ? -Infinity : streamer.namedAt;
  if (login === '' || at < namedAt) return streamer;
  const isSame = login.toLowerCase() === streamer.platformUsername.toLowerCase();
  return isSame ? streamer : { ...streamer, platformUsername: login, namedAt: at };
}

function toDate(milliseconds: Milliseconds | null): Date | null {
  return milliseconds === null ? null : new Date(milliseconds);
}
