import type { ClientLimit } from '../http/http-limits.js';

/** The limits of live delivery. docs/live.md and the API descriptions take their values from here. */

export interface ConnectionLimits {
  /** Maximum number of live connections per gateway process. */
  connections: number;
  /** Maximum number of live connections per user at each gateway. */
  perUser: number;
}

export const connectionLimits: ConnectionLimits = { connections: 10_000, perUser: 50 };

/** Limits on catch-ups. In a catch-up, a connection reads events that are older than the ring buffer from the EVENTS stream. */
export interface CatchUpLimits {
  /** Maximum number of concurrent catch-ups per user at each gateway. Further catch-ups wait for their turn. */
  perUser: number;
  /**
   * After a turn of this length, a catch-up gives way to another catch-up of the user that waits. A turn also ends when its client takes
   * longer than this to receive a page. Keeps a slow client from blocking the user's other clients.
   */
  turnMs: number;
  /**
   * Maximum number of stream messages that a catch-up reads per second. Faster catch-ups would take CPU time from webhooks and other
   * requests.
   */
  messagesPerSecond: number;
}

export const catchUpLimits: CatchUpLimits = { perUser: 2, turnMs: 5_000, messagesPerSecond: 10_000 };

/** Limits on the WebSockets of one gateway process. */
export interface WebSocketLimits {
  /** Limits on sockets that have not sent a valid token. */
  waiting: ClientLimit;
  /** Time limit for a socket to send its token. */
  tokenMs: number;
  /** How often the gateway pings a socket, and the time limit for the pong. */
  pingMs: number;
}

export const webSocketLimits: WebSocketLimits = {
  // After a restart, 1,000 clients behind one address can reconnect at the same time.
  waiting: { total: 2_000, perAddress: 1_000 },
  tokenMs: 10_000,
  pingMs: 30_000,
};

/** Maximum size of a message from a WebSocket client, in bytes. A first message with 100 event types of the platform is about 3 KiB. */
export const maxMessageBytes = 16 * 1024;
/**
 * Maximum number of messages, pings, and pongs from a WebSocket client per minute, not counting its first message. A client that answers
 * each ping of the gateway sends two per minute, and one that also pings every 5 s sends 14.
 */
export const maxFramesPerMinute = 60;
/** Maximum number of event types in one filter. No supported platform has more event types. */
export const maxEventTypes = 100;
/** Maximum length of a connection's name, in characters. */
export const maxConnectionNameLength = 255;

/** How often clients get a keep-alive. Must be less than a minute, because many proxies cut connections that are silent for longer. */
export const keepAliveMs = 15_000;
/** Maximum bytes buffered in memory for one client. */
export const maxBufferedBytes = 1024 ** 2;
/**
 * The gateway disconnects a client that neither reads nor sends anything for this long while the gateway waits for the client. The gateway
 * waits for a live WebSocket when `maxBufferedBytes` are buffered, for a client that catches up after each piece, and for a client of
 * server-sent events whenever data is buffered.
 */
export const stallLimitMs = 10_000;
/** How long a closed connection waits for the client to read its last frames before its socket is destroyed. */
export const closeLimitMs = 5_000;

/**
 * Maximum number of events in the ring buffer. Most clients reconnect within minutes. At 20 events/s, 20,000 events cover 17
 * minutes.
 */
export const maxRingBufferEvents = 20_000;
/**
 * Maximum bytes of event records in the ring buffer and, separately, in the cache of older pages. Each event also keeps up to three frames
 * encoded from its record, so the ring buffer takes at most about 64 MiB.
 */
export const maxRingBufferBytes = 16 * 1024 ** 2;
