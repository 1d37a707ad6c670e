import type { Channel } from '../world/population.js';
import { countViewers, type Stream } from '../world/stream.js';

/** A stream as the platform's API returns it (docs/platform-facts.md §4.4). */
export interface StreamView {
  id: string;
  user_id: string;
  user_login: string;
  user_name: string;
  game_id: string;
  game_name: string;
  type: 'live';
  title: string;
  tags: string[];
  viewer_count: number;
  started_at: string;
  language: string;
  thumbnail_url: string;
  tag_ids: string[];
  is_mature: boolean;
}

/** The real start and end of a stream, which the streams API can show late. */
export interface StreamTruth {
  id: string;
  user_id: string;
  started_at: string;
  /** Null while the stream is live. */
  ended_at: string | null;
}

export function viewStream(channel: Channel, stream: Stream, now: number): StreamView {
  const { broadcaster, category, title, language } = channel;
  return {
    id: stream.id,
    user_id: broadcaster.id,
    user_login: broadcaster.login,
    user_name: broadcaster.name,
    game_id: category.id,
    game_name: category.name,
    type: 'live',
    title,
    tags: ['simulation'],
    viewer_count: countViewers(stream, now),
    started_at: new Date(stream.startedAt).toISOString(),
    language,
    thumbnail_url: `https://simulation.invalid/streams/${broadcaster.login}-{width}x{height}.jpg`,
    tag_ids: [], // deprecated; always empty on the platform
    is_mature: false,
  };
}

export function viewTruth({ id, userId, startedAt, endedAt }: Stream): StreamTruth {
  return {
    id,
    user_id: userId,
    started_at: new Date(startedAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
  };
}
