import type { PlatformStreamMessage } from '@stream-events/contracts';
import type { SeenStream } from '../streams/streams.repository.js';

// Maximum length of texts, which are cut beyond it. The platform's titles have up to 140 characters, and 1,000 samples of a history must
// fit in one message of 1 MiB.
const maxTextLength = 200;
const maxInteger = 2 ** 31 - 1;

/** Makes texts and the number of viewers storable: one invalid character in a title must not fail a batch of 100 streamers. */
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
