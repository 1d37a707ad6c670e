import { lastMillisecond, readJsonObject, ServiceError, type JsonObject } from '@stream-events/contracts';
import type { SocketFrame, SocketSession } from '../inbound-platform.js';

/** The close codes of sockets (FACTS.md §2). */
export const closeReasons: Readonly<Record<number, string>> = {
  4000: 'internal server error',
  4001: 'sent inbound traffic',
  4002: 'failed ping pong',
  4003: 'connection unused',
  4004: 'client reconnect grace time expired',
  4005: 'network timeout',
  4006: 'network error',
  4007: 'invalid reconnect attempt',
};

// Twitch's keep-alive interval for a client that requests none.
const defaultKeepAliveSeconds = 10;

/**
 * Reads a frame of a socket (FACTS.md §2).
 *
 * @throws ServiceError `invalid` when the frame does not match its type
 */
export function readFrame(bytes: Uint8Array): SocketFrame {
  const frame = readJsonObject(bytes);
  const metadata = frame.member('metadata')?.value ?? {};
  const type = readText(metadata, 'message_type');
  const content = frame.member('payload');
  if (!content) throw ServiceError.onField('payload', 'must be an object');
  const session = content.member('session')?.value ?? {};
  switch (type) {
    case 'session_welcome':
      return { kind: 'welcome', session: readSession(session) };
    case 'session_keepalive':
      return { kind: 'keep_alive' };
    case 'session_reconnect':
      return { kind: 'reconnect', url: readText(session, 'reconnect_url') };
    default:
      return {
        kind: 'message',
        message: { id: readText(metadata, 'message_id'), type, sentAt: readSentAt(metadata), content },
      };
  }
}

function readSession(session: JsonObject): SocketSession {
  const { keepalive_timeout_seconds: seconds } = session;
  const isInterval = typeof seconds === 'number' && seconds > 0;
  return {
    id: readText(session, 'id'),
    keepAliveMs: (isInterval ? seconds : defaultKeepAliveSeconds) * 1_000,
  };
}

/** Returns null for an unreadable time, because the message still contains an event. */
function readSentAt({ message_timestamp: timestamp }: JsonObject): number | null {
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return time >= 0 && time <= lastMillisecond ? time : null;
}

function readText(fields: JsonObject, name: string): string {
  const text = fields[name];
  if (typeof text !== 'string' || text === '')
    throw ServiceError.onField(name, 'must be text of at least 1 character');
  return text;
}
