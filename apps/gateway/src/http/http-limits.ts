import type { AnonymousLimits } from './anonymous-requests.js';
import type { ShareLimits } from './fair-share.js';

/**
 * Limits on what clients can occupy in one gateway process, with or without a token. A client is an IPv4 address or an IPv6 /64 network.
 * Platform messages have separate limits, because the gateway must read a whole message before it can check the signature.
 */
export interface HttpLimits {
  /** Number of connections. Excludes connections from trusted proxies, and live connections, which have a separate limit. */
  connections: ShareLimits;
  /** Number of requests in progress. Excludes platform messages, and responses that stay open. */
  requests: ShareLimits;
  /** Number of platform messages in progress. */
  messages: ShareLimits;
  /** Bytes of request bodies that are being read. Excludes platform messages. */
  bodies: ShareLimits;
  /** Bytes of platform messages that are being read. Includes forged messages: the signature is checked later. */
  messageBodies: ShareLimits;
  /** Bytes of large responses that clients have not read yet. */
  responses: ShareLimits;
  /** Requests without a valid token, and WebSockets that present none. Excludes platform messages. */
  anonymous: AnonymousLimits;
}

const kib = 1024;
const mib = 1024 * kib;

/** Largest accepted request body. Platform messages have a few KiB. */
export const maxBodyBytes = 256 * kib;

/**
 * Each body that is being read costs at least this much. The minimum covers the memory of the connection and the request (about 30 KiB). It
 * also limits the number of bodies: 64 MiB for platform messages allow 1,024 bodies.
 */
export const minBodyCost = 64 * kib;

/**
 * Minimum size of a response that counts toward the `responses` limit. 5,000 smaller responses take at most 80 MiB. A page of events has up
 * to 1 MiB.
 */
export const largeResponseBytes = 16 * kib;

/**
 * How these limits fit together:
 *
 * Memory: bodies that are being read take at most 128 + 64 MiB, unread responses 256 + 80 MiB, and 8,000 connections of 20 KiB take 160
 * MiB. Complete bodies of 5,000 requests in progress take at most 1.25 GiB. The events that wait for the store, including platform
 * messages, take at most 96 MiB (`EventIngest`).
 *
 * File descriptors: 8,000 connections and 10,000 live connections stay below `maxConnections`. Clients without a token therefore cannot
 * exhaust the descriptors.
 *
 * Reserves: an attacker can start at most 1,024 messages whose bodies never arrive. About 5,000 of the 6,000 message slots remain for real
 * messages. Of the 5,000 request slots, 2,952 remain, because at most 2,048 bodies can be outstanding.
 */
export const httpLimits: HttpLimits = {
  // An office or a household behind one address can open hundreds of connections.
  connections: { total: 8_000, perAddress: 2_000, patienceMs: Infinity },
  // A request can give way only after its response is ready, and only while its client does not read the response. `patienceMs` begins when
  // the response is ready.
  requests: { total: 5_000, perAddress: 1_000, patienceMs: 5_000 },
  // The platform may send from a single address, so one address may use the whole limit. Messages with a wrong signature end immediately.
  messages: { total: 6_000, perAddress: 6_000, patienceMs: Infinity },
  // 32 MiB are 128 events of the largest size, enough for a service that adds events in parallel.
  bodies: { total: 128 * mib, perAddress: 32 * mib, patienceMs: 5_000 },
  // The platform sends head and body together, and a message has a few KiB. 500 ms allow for one lost packet.
  messageBodies: { total: 64 * mib, perAddress: 16 * mib, patienceMs: 500 },
  // A response can give way only while its client does not read it. `patienceMs` begins when the response is ready. One client can have 64
  // unread pages of the largest size (1 MiB).
  responses: { total: 256 * mib, perAddress: 64 * mib, patienceMs: 2_000 },
  // A page of the console loads a few dozen files without a token. 10,000 addresses take about 2 MiB.
  anonymous: { perSecond: 100, burst: 300, addresses: 10_000 },
};

/**
 * Maximum number of connections of any kind, including live connections and trusted proxies. Each takes a file descriptor and about 20 KiB.
 * Node closes further connections without a response, because it has not read a request yet.
 */
export const maxConnections = 20_000;

/**
 * Maximum number of pending requests per connection. Few clients pipeline. Without this limit, a few connections could use up the request
 * limit of their address, and one read of 64 KiB could make the gateway serve about 1,100 requests in one event-loop turn.
 */
export const maxRequestsPerConnection = 16;

/**
 * How often Node checks the time limits of heads and whole requests. Node's default of 30 s would let requests exceed these limits by up to
 * 30 s. Node ends all late connections in one event-loop turn: with a check every 1 s, an attack with slow headers delayed other requests
 * by 30 ms.
 */
export const checkIntervalMs = 100;
/** How often `limitBodies` looks for bodies that exceed their time limit. */
export const bodyCheckIntervalMs = 250;
/** Time limit for the head of a request. */
export const headersLimitMs = 10_000;
/** Time limit for the body of a platform message. */
export const messageBodyLimitMs = 2_000;

// Minimum upload speed for request bodies: 128 kbit/s, slower than any line that can carry live events.
const slowestBytesPerSecond = 16 * kib;

/** Time limit for a request body: 26 s for 256 KiB. */
export function bodyLimitMs(bytes: number): number {
  return 10_000 + (bytes / slowestBytesPerSecond) * 1_000;
}

/** Time limit for a whole request, long enough for the largest body. */
export const requestLimitMs = headersLimitMs + bodyLimitMs(maxBodyBytes) + checkIntervalMs;
/** Maximum time without data on a connection while a request is in progress. */
export const silenceLimitMs = 60_000;
/** Maximum pause of a client while it reads a complete response. */
export const unreadLimitMs = 15_000;
/** Time that a client has to read the last response on a connection that the gateway closes. */
export const lingerMs = 1_000;
