import type { ShareLimits } from './fair-share.js';

/**
 * Limits on the resources of one gateway process that clients can occupy before they authenticate. A client is an IPv4 address or an
 * IPv6 /64 network. Platform messages have their own reserves, because the gateway must read their bodies before it can check their
 * signatures.
 */
export interface HttpLimits {
  /** Connections from clients that are not trusted proxies. Excludes live connections, which have a separate limit. */
  connections: ShareLimits;
  /** Requests in progress, except platform messages. */
  requests: ShareLimits;
  /** Platform messages in progress. */
  messages: ShareLimits;
  /** Bytes of bodies that are being read, except the bodies of platform messages. */
  bodies: ShareLimits;
  /** Bytes of bodies that are being read for (alleged) platform messages. */
  messageBodies: ShareLimits;
  /** Bytes of large responses that their clients have not read. */
  responses: ShareLimits;
}

const kib = 1024;
const mib = 1024 * kib;

/** The largest accepted body: 256 KiB, far above any message of a platform. */
export const maxBodyBytes = 256 * kib;

/**
 * The minimum cost of a body that is being read. Covers the connection and the request, about 30 KiB, and limits the number of bodies: the
 * 64 MiB for platform messages hold at most 1,024 bodies.
 */
export const minBodyCost = 64 * kib;

/** Smaller responses are not counted: 5,000 small responses take at most 80 MiB. An event list response has up to 1 MiB. */
export const largeResponseBytes = 16 * kib;

/**
 * Memory: bodies that are being read take at most 128 + 64 MiB, unread responses 256 + 80 MiB, and 8,000 connections at 20 KiB take 160
 * MiB. Complete bodies of requests in progress take at most 1.25 GiB, because at most 4,096 events wait for the store, 768 are on the way
 * to the store, and further events are refused.
 *
 * File descriptors: 8,000 connections and 10,000 live connections stay below `maxConnections`, so clients without a token cannot reach that
 * limit.
 *
 * Reserves: 1,024 messages whose bodies never arrive leave about 5,000 of the 6,000 message slots for real messages. 2,048 other requests
 * whose bodies never arrive leave 2,952 of the 5,000 request slots.
 */
export const httpLimits: HttpLimits = {
  // An office or a household behind one address can have hundreds of connections.
  connections: { total: 8_000, perAddress: 2_000, patienceMs: Infinity },
  // A request gives way only while its client does not read the response.
  requests: { total: 5_000, perAddress: 1_000, patienceMs: 5_000 },
  // One address may use the whole limit, because the platform may send from one address. Messages with a wrong signature end immediately.
  messages: { total: 6_000, perAddress: 6_000, patienceMs: Infinity },
  // A service that adds events of the largest size can send 128 events at a time.
  bodies: { total: 128 * mib, perAddress: 32 * mib, patienceMs: 5_000 },
  // The platform sends head and body together, and its messages have a few KiB. 500 ms allow for a lost packet.
  messageBodies: { total: 64 * mib, perAddress: 16 * mib, patienceMs: 500 },
  // A response gives way only while its client does not read the response. One client can have 64 unread pages of the largest size (1 MiB).
  responses: { total: 256 * mib, perAddress: 64 * mib, patienceMs: 2_000 },
};

/**
 * Maximum number of all connections, including live connections and the connections of trusted proxies. Each connection takes a file
 * descriptor and about 20 KiB. Node closes connections above the limit without a response, because there is no request yet.
 */
export const maxConnections = 20_000;

/**
 * Maximum number of pending requests on a connection. Few clients pipeline requests. Without this limit, a few connections could use up the
 * request limit of their address.
 */
export const maxRequestsPerConnection = 16;

/**
 * How often Node checks the time limits of heads and whole requests. Node's default of 30 s would extend these limits by up to 30 s. Node
 * ends all late connections in one turn of the event loop. With checks every 1 s, an attack with slow headers delayed other requests by
 * 30 ms.
 */
export const checkIntervalMs = 100;
/** How often the gateway checks the time limits of bodies. */
export const bodyCheckIntervalMs = 250;
/** How long the head of a request may take to arrive. */
export const headersLimitMs = 10_000;
/** How long the body of a platform message may take to arrive. */
export const messageBodyLimitMs = 2_000;

// 128 kbit/s, slower than any line that can deliver live events.
const slowestBytesPerSecond = 16 * kib;

/** Returns how long a body may take to arrive: 26 s for 256 KiB. */
export function bodyLimitMs(bytes: number): number {
  return 10_000 + (bytes / slowestBytesPerSecond) * 1_000;
}

/** How long a whole request, with the largest body, may take to arrive. */
export const requestLimitMs = headersLimitMs + bodyLimitMs(maxBodyBytes) + checkIntervalMs;
/** How long a connection may carry no data while a request is in progress. */
export const silenceLimitMs = 60_000;
/** How long a client may pause before it reads more of a complete response. */
export const unreadLimitMs = 15_000;
/** How long a client may take to read the last response on a connection that the gateway closes. */
export const lingerMs = 1_000;
