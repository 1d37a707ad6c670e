import type { JsonObject, PlatformStreamMessage } from '@stream-events/contracts';
import {
  readObject,
  readObjects,
  readOptionalCount,
  readOptionalText,
  readText,
  readTime,
  toStorable,
} from '../reply-fields.js';

// Twitch returns 20 streams per page by default. One page of 100 is enough, because a call asks for at most 100 users.
const pageSize = '100';

export function toStreamsQuery(userIds: readonly string[]): string {
  const query = new URLSearchParams({ first: pageSize });
  for (const id of userIds) query.append('user_id', id);
  return query.toString();
}

/**
 * Reads the reply to `GET streams` (FACTS.md §4.4). One malformed stream fails the whole reply, because skipping the stream
 * would report its broadcaster as offline.
 */
export function readStreams(body: unknown): PlatformStreamMessage[] {
  return readObjects(readObject(body, 'the list of streams'), 'data').map((stream) => ({
    id: readText(stream, 'id'),
    userId: readText(stream, 'user_id'),
    userLogin: readText(stream, 'user_login'),
    userName: readOptionalText(stream, 'user_name') || readText(stream, 'user_login'),
    gameId: readOptionalText(stream, 'game_id'),
    gameName: readOptionalText(stream, 'game_name'),
    type: readOptionalText(stream, 'type'),
    title: readOptionalText(stream, 'title'),
    viewerCount: readOptionalCount(stream, 'viewer_count') ?? 0,
    startedAt: readTime(stream, 'started_at'),
    language: readOptionalText(stream, 'language'),
    thumbnailUrl: readOptionalText(stream, 'thumbnail_url'),
    tagIds: readTagIds(stream),
    isMature: stream.is_mature === true,
  }));
}

/** Reads the tag ids. Returns null when there are none: Twitch has retired tag ids and sends an empty list. */
function readTagIds({ tag_ids: tagIds }: JsonObject): string | null {
  if (!Array.isArray(tagIds)) return null;
  const ids = tagIds.filter((id): id is string => typeof id === 'string');
  return ids.length === 0 ? null : toStorable(ids.join(','));
}
