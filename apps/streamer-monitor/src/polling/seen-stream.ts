import type { PlatformStreamMessage } from '@stream-events/contracts';
import type { SeenStream } from '../streams/streams.repository.js';

// Longer texts are cut. The platform's titles have up to 140 characters, and a history of 1,000 samples must fit into one message of 1 MiB.
const maxTextLength = 200;
const maxInteger = 2 ** 31 - 1;

/**
 * Returns a listed stream with values that the database can store, because one invalid character in a title must not fail a batch of 100
 * streamers.
 */
export function toSeenStream(stream: PlatformStreamMessage): SeenStream {
  return {
    streamId: toStorable(stream.id),
    startedAt: stream.startedAt,
    userId: stream.userId,
    userLogin: toStorable(stream.userLogin),
    userName: toStorable(stream.userName),
    gameId: toStorable(stream.gameId),
    gameName: toStorable(stream.gameName),
    type: toStorable(stream.type),
    title: toStorable(stream.title),
    viewerCount: Math.min(Math.max(stream.viewerCount, 0), maxInteger),
    language: toStorable(stream.language),
    thumbnailUrl: toStorable(stream.thumbnailUrl, 2_048),
    tagIds: stream.tagIds === null ? null : toStorable(stream.tagIds, 2_048),
    isMature: stream.isMature,
  };
}

function toStorable(text: string, maxLength = maxTextLength): string {
  return text.replaceAll('\0', '').slice(0, maxLength).toWellFormed();
}
