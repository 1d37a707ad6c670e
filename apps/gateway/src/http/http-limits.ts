import type { ShareLimits } from './fair-share.js';

/**
 * What clients can hold of one gateway process before they have proven anything, by the cost of each thing. A client is an IPv4
 * address or an IPv6 /64 network. Platform messages have their own reserves, because their bodies must be read before their
 * signatures can be checked.
 */
export interface HttpLimits {
  /** Connections of clients that are not trusted proxies, except live connections, which have a limit of their own. */
  connections: ShareLimits;
  /** Requests in progress, except platform messages. */
  requests: ShareLimits;
  /** Platform messages in progress. */
  messages: ShareLimits;
  /** Bytes of bodies that are being read, except those of platform messages. */
  bodies: ShareLimits;
  /** Bytes of bodies of (alleged) platform messages that are being read. */
  messageBodies: ShareLimits;
  /** Bytes of large responses that their clients have not read. */
  responses: ShareLimits;
}

const kib = 1024;
const mib = 1024 * kib;

/** The largest accepted body: 256 KiB, far above any message of a platform. */
export const maxBodyBytes = 256 * kib;

/**
 * The smallest cost of a body that is being read. It covers the connection and the request, about 30 KiB, and limits the number of
 * bodies: 64 MiB are at most 1,024 bodies.
 */
export const minBodyCost = 64 * kib;

/** Smaller responses are not counted: 5,000 of them take at most 80 MiB. A response of the event list has up to 1 MiB. */
export const largeResponseBytes = 16 * kib;

/**
 * Memory: bodies that are being read take at most 128 + 64 MiB, unread responses 256 + 80 MiB, and 8,000 connections at 20 KiB take 160
 * MiB. Complete bodies of requests in progress take at most 1.25 GiB, because at most 4,096 events wait for the store, 768 are on the way
 * to it, and events beyond that are refused.
 *
 * File descriptors: 8,000 connections and 10,000 live connections stay below `maxConnections`, so clients without a token cannot
 * reach it.
 *
 * Reserves: 1,024 bodies of messages that never arrive leave 5,000 of the 6,000 messages for those that are stored. 2,048 other
 * bodies that never arrive leave 2,952 of the 5,000 requests.
 */
export const httpLimits: HttpLimits = {
  // An office or a household behind one address has hundreds of connections.
  connections: { total: 8_000, perAddress: 2_000, patienceMs: Infinity },
  // A request gives way only if its client does not read the response.
  requests: { total: 5_000, perAddress: 1_000, patienceMs: 5_000 },
  // One limit, because the platform may send from one address, and messages with a wrong signature end immediately.
  messages: { total: 6_000, perAddress: 6_000, patienceMs: Infinity },
  // A service that adds events of the largest size can send 128 at a time.
  bodies: { total: 128 * mib, perAddress: 32 * mib, patienceMs: 5_000 },
  // The platform sends head and body together, and its messages have a few KiB. 500 ms cover a lost packet.
  messageBodies: { total: 64 * mib, perAddress: 16 * mib, patienceMs: 500 },
  // A response gives way only if its client does not read it. Whoever reads 64 large pages at a time gets them one after the other.
  responses: { total: 256 * mib, perAddress: 64 * mib, patienceMs: 2_000 },
};

/**
 * All connections, including those of trusted proxies and live ones. Each takes a file descriptor and about 20 KiB. Node closes
 * connections above the limit without a response, because there is no request yet.
 */
export const maxConnections = 20_000;

/** Few clients pipeline requests. Without this limit, a few connections could use up the limit of their address. */
export const maxRequestsPerConnection = 16;

/**
 * How often Node checks the limits of heads and whole requests. Its default, 30 s, would make them up to 30 s longer. Node ends all
 * late connections in one turn of the event loop: with 1 s between two checks, an attack with slow headers delayed others by 30 ms.
 */
export const checkIntervalMs = 100;
/** How often the limits of bodies are checked. */
export const bodyCheckIntervalMs = 250;
/** How long the head of a request may take. */
export const headersLimitMs = 10_000;
/** How long the body of a platform message may take. */
export const messageBodyLimitMs = 2_000;

// 128 kbit/s, slower than any line that can deliver live events.
const slowestBytesPerSecond = 16 * kib;

/** How long a body may take: 26 s at 256 KiB. */
export function bodyLimitMs(bytes: number): number {
  return 10_000 + (bytes / slowestBytesPerSecond) * 1_000;
}

/** How long a whole request may take: its head, and the largest body. */
export const requestLimitMs = headersLimitMs + bodyLimitMs(maxBodyBytes) + checkIntervalMs;
/** How long a connection may carry no byte while a request is in progress. */
export const silenceLimitMs = 60_000;
/** How long a client may read nothing of a response that is complete. */
export const unreadLimitMs = 15_000;
/** How long a client may take to read the last response on a connection that the gateway closes. */
export const lingerMs = 1_000;
