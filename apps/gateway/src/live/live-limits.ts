import type { ShareLimits } from '../http/fair-share.js';

/** The limits of live delivery. docs/live.md and the API descriptions print them from here. */

/** Limits on live connections. */
export interface ConnectionLimits {
  /** All live connections of one gateway process. */
  connections: number;
  /** Connections of one user at all gateways. */
  perUser: number;
  /**
   * How long a client waits if its user has too many connections only when those at other gateways are counted. Longer than the time after
   * which a crashed gateway is forgotten, because the clients of that gateway connect to the others at once.
   */
  patienceMs: number;
}

export const connectionLimits: ConnectionLimits = { connections: 10_000, perUser: 50, patienceMs: 6_000 };

/** Limits on catch-ups: connections that read events from the EVENTS stream that are older than the ring buffer. */
export interface CatchUpLimits {
  /** Catch-ups of one user that run at a time, at all gateways. The others wait for their turn. */
  perUser: number;
  /** How long a turn lasts while others of the user wait. A client that reads slowly must not keep them waiting. */
  turnMs: number;
  /** How many messages of the stream a catch-up passes per second. Faster ones would take the cores that webhooks and others need. */
  messagesPerSecond: number;
}

export const catchUpLimits: CatchUpLimits = { perUser: 2, turnMs: 5_000, messagesPerSecond: 10_000 };

/** Limits on clients that send wrong tokens. */
export interface TokenFailureLimits {
  /** How long after its handshake the first such socket of an address is closed. Each further one takes twice as long. */
  minDelayMs: number;
  maxDelayMs: number;
  /** Maximum number of delays of one address that run at a time. Beyond it, handshakes of this address get 429. */
  delaysPerAddress: number;
  /** How long after its last failure an address is remembered. */
  memoryMs: number;
  /** Maximum number of remembered addresses. */
  addresses: number;
}

/** Limits on the WebSockets of one gateway process. */
export interface WebSocketLimits {
  /**
   * Sockets that have not sent a valid token. Ordinary clients send their token immediately, so a socket that has waited longest
   * is probably an attacker's.
   */
  waiting: ShareLimits;
  tokenFailures: TokenFailureLimits;
  /** How long a socket may take to send its token. */
  tokenMs: number;
  /** How often a socket is pinged, and how long its pong may take. */
  pingMs: number;
}

export const webSocketLimits: WebSocketLimits = {
  // After a restart, 1,000 clients behind one address return together.
  waiting: { total: 2_000, perAddress: 1_000, patienceMs: 1_000 },
  // At 50 delays of 8 s, an address can try 6 tokens per second.
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

/** Maximum size of a message from a WebSocket client. A first message with a hundred event types has about 5 KiB. */
export const maxMessageBytes = 16 * 1024;
/** Maximum number of event types in one filter, which is more than a platform has. */
export const maxEventTypes = 100;
/** Maximum length of a connection's name, in characters. */
export const maxConnectionNameLength = 255;

/** How often clients get a keep-alive: more often than once a minute, after which proxies cut silent connections. */
export const keepAliveMs = 15_000;
/** Maximum number of bytes in memory that wait for one client. */
export const maxBufferedBytes = 1024 ** 2;
/** A client that reads nothing for this long counts as gone. */
export const stallLimitMs = 10_000;
/** How long a client may read its last frames when the service closes its connection. After that, its socket is destroyed. */
export const closeLimitMs = 5_000;

/**
 * Maximum number of events in the ring buffer. Most clients reconnect within minutes; at 20 events/s, 20,000 events are 17
 * minutes.
 */
export const maxRingBufferEvents = 20_000;
/**
 * Maximum bytes of event records in the ring buffer, and in the cache of older pages. Each event also keeps the frames made
 * from it, up to three, so a ring buffer takes at most 64 MiB.
 */
export const maxRingBufferBytes = 16 * 1024 ** 2;
