import type { PlatformStreamMessage } from '@stream-events/contracts';
import { v7 as uuidV7 } from 'uuid';
import type { Streamer } from '../src/streamers/streamer.entity.js';
import type { StreamEvent } from '../src/streams/stream-recorder.service.js';

/** The base time of these tests; their times are milliseconds after it. */
export const epoch = Date.UTC(2026, 0, 1);

export function online(
  { platformId, platformUsername }: Streamer,
  streamId: string,
  startedAt: number,
  overrides: { at?: number; login?: string } = {},
): StreamEvent {
  const login = overrides.login ?? platformUsername;
  return {
    kind: 'online',
    at: epoch + (overrides.at ?? startedAt),
    userId: platformId,
    userLogin: login,
    stream: {
      eventId: uuidV7(),
      streamId,
      startedAt: epoch + startedAt,
      announcedAt: epoch + (overrides.at ?? startedAt),
      type: 'live',
      userId: platformId,
      userLogin: login,
      userName: login,
    },
  };
}

/** Returns a stream-offline event, which names the stream if `streamId` is given. */
export function offline(
  { platformId, platformUsername }: Streamer,
  at: number,
  streamId?: string,
): StreamEvent {
  return {
    kind: 'offline',
    at: epoch + at,
    userId: platformId,
    userLogin: platformUsername,
    offline: { eventId: uuidV7(), streamId: streamId ?? null, at: epoch + at },
  };
}

/** Returns a stream as the platform lists it. */
export function listed(
  { platformId, platformUsername }: Streamer,
  streamId: string,
  startedAt: number,
  overrides: Partial<PlatformStreamMessage> = {},
): PlatformStreamMessage {
  return {
    id: streamId,
    userId: platformId,
    userLogin: platformUsername,
    userName: platformUsername,
    gameId: '509658',
    gameName: 'Just Chatting',
    type: 'live',
    title: 'hello',
    viewerCount: 7,
    startedAt: epoch + startedAt,
    language: 'en',
    thumbnailUrl: 'https://example.test/{width}x{height}.jpg',
    tagIds: null,
    isMature: false,
    ...overrides,
  };
}
