import type { ShareLimits } from '../http/fair-share.js';

/** The limits of live delivery. docs/live.md and the API descriptions print these values. */

/** Limits on live connections. */
export interface ConnectionLimits {
  /** Maximum number of live connections per gateway process. */
  connections: number;
  /** Maximum number of live connections per user, across all gateways. */
  perUser: number;
  /**
   * How long a client waits if its user is at the limit only because of connections at other gateways. Longer than the time after which the
   * other gateways forget a crashed gateway, because the clients of that gateway immediately connect to other gateways.
   */
  patienceMs: number;
}

export const connectionLimits: ConnectionLimits = { connections: 10_000, perUser: 50, patienceMs: 6_000 };

/** Limits on catch-ups. A catch-up is a connection that reads events from the EVENTS stream that are older than the ring buffer. */
export interface CatchUpLimits {
  /** Maximum number of concurrent catch-ups per user, across all gateways. Further catch-ups wait for their turn. */
  perUser: number;
  /**
   * How long a turn lasts while other catch-ups of the user wait. A client that reads slowly must not keep the user's other clients
   * waiting.
   */
  turnMs: number;
  /**
   * Maximum number of stream messages that a catch-up reads per second. Faster catch-ups would take CPU time from webhooks and other
   * requests.
   */
  messagesPerSecond: number;
}

export const catchUpLimits: CatchUpLimits = { perUser: 2, turnMs: 5_000, messagesPerSecond: 10_000 };

/** Limits on clients that send wrong tokens. */
export interface TokenFailureLimits {
  /**
   * How long a socket with a wrong token stays open after its handshake, for the first failure from an address. The time doubles with each
   * further failure from the address, up to `maxDelayMs`.
   */
  minDelayMs: number;
  maxDelayMs: number;
  /** Maximum number of concurrent delays per address. At this limit, new handshakes from the address get 429. */
  delaysPerAddress: number;
  /** How long the gateway remembers an address after its last failure. */
  memoryMs: number;
  /** Maximum number of remembered addresses. */
  addresses: number;
}

/** Limits on the WebSockets of one gateway process. */
export interface WebSocketLimits {
  /**
   * Limits on sockets that have not sent a valid token. Ordinary clients send their token immediately, so the socket that has waited
   * longest is probably an attacker's.
   */
  waiting: ShareLimits;
  tokenFailures: TokenFailureLimits;
  /** How long a socket may take to send its token. */
  tokenMs: number;
  /** How often the gateway pings a socket, and how long the pong may take to arrive. */
  pingMs: number;
}

export const webSocketLimits: WebSocketLimits = {
  // After a restart, 1,000 clients behind one address may reconnect at the same time.
  waiting: { total: 2_000, perAddress: 1_000, patienceMs: 1_000 },
  // With 50 delays of 8 s each, an address can try 6 tokens per second.
  tokenFailures: {
    minDelayMs: 1_000,
    maxDelayMs: 8_000,
    delaysPerAddress: 50,
    memoryMs: 60_000,
    addresses: 10_000,
  },
  tokenMs: 10_000,
  pingMs: 30_000,
};

/** Maximum size of a message from a WebSocket client, in bytes. A first message with a hundred event types has about 5 KiB. */
export const maxMessageBytes = 16 * 1024;
/** Maximum number of event types in one filter. No platform has more event types. */
export const maxEventTypes = 100;
/** Maximum length of a connection's name, in characters. */
export const maxConnectionNameLength = 255;

/** How often clients get a keep-alive. Must be less than a minute, because proxies cut connections that are silent for longer. */
export const keepAliveMs = 15_000;
/** Maximum number of bytes that wait in memory for one client. */
export const maxBufferedBytes = 1024 ** 2;
/** How long a client may read nothing before the gateway treats the client as gone. */
export const stallLimitMs = 10_000;
/** How long a client may read its last frames after the service has closed its connection. Then the socket is destroyed. */
export const closeLimitMs = 5_000;

/**
 * Maximum number of events in the ring buffer. Most clients reconnect within minutes. At 20 events/s, 20,000 events cover 17
 * minutes.
 */
export const maxRingBufferEvents = 20_000;
/**
 * Maximum bytes of event records in the ring buffer, and the same maximum for the cache of older pages. Each event also keeps up to three
 * frames that were made from its record, so a ring buffer takes at most 64 MiB.
 */
export const maxRingBufferBytes = 16 * 1024 ** 2;
