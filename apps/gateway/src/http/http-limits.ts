import type { AnonymousLimits } from './anonymous-requests.js';

/** Limits on what clients can occupy. A client is an IPv4 address or an IPv6 /64 network. */
export interface ClientLimit {
  /** Maximum for all clients together. */
  total: number;
  /** Maximum for one client. */
  perAddress: number;
}

/**
 * Limits on what clients can occupy in one gateway process, with or without a token. Platform messages have separate limits, because the
 * gateway must read a whole message before it can check the signature.
 */
export interface HttpLimits {
  /** Number of connections. Excludes connections from trusted proxies, and live connections, which have a separate limit. */
  connections: ClientLimit;
  /** Number of requests that wait for the responses to earlier requests on their connections. */
  pipelined: ClientLimit;
  /** Bytes of request bodies that did not arrive together with their heads, until they have arrived. Excludes platform messages. */
  bodies: ClientLimit;
  /** Bytes of such bodies of platform messages. Includes forged messages: the signature is checked later. */
  messageBodies: ClientLimit;
  /** Requests without a valid token, and WebSockets that present none. Excludes platform messages. */
  anonymous: AnonymousLimits;
}

const kib = 1024;
const mib = 1024 * kib;

/** Largest accepted request body. Platform messages have a few KiB. */
export const maxBodyBytes = 256 * kib;

/**
 * Each unfinished body costs at least this much. The minimum covers the memory of the connection and the request (about 30 KiB). It also
 * limits the number of bodies: 64 MiB for platform messages allow 1,024 bodies.
 */
export const minBodyCost = 64 * kib;

/**
 * How these limits fit together:
 *
 * Memory: 8,000 connections of 20 KiB take 160 MiB, and unfinished bodies at most 128 + 64 MiB. A user has four requests at a time
 * (`UserTurns`), each with a body of at most 256 KiB or a response of at most 1 MiB. All clients without a token share the bytes of the
 * large responses that they can get. The events that wait for the store, including platform messages, take at most 96 MiB (`EventIngest`).
 *
 * File descriptors: 8,000 connections and 10,000 live connections stay below `maxConnections`. Clients without a token therefore cannot
 * exhaust the descriptors.
 *
 * Reserves: a body that arrives together with its head, as the platform sends it, needs no place. An attacker who uses up all places
 * therefore delays only larger bodies.
 */
export const httpLimits: HttpLimits = {
  // An office or a household behind one address can open hundreds of connections.
  connections: { total: 8_000, perAddress: 2_000 },
  // Few clients pipeline. Without this limit, one read of 64 KiB could make the gateway serve about 1,100 requests in a row.
  pipelined: { total: 1_024, perAddress: 64 },
  // 32 MiB are 128 events of the largest size, enough for a service that adds events in parallel.
  bodies: { total: 128 * mib, perAddress: 32 * mib },
  messageBodies: { total: 64 * mib, perAddress: 16 * mib },
  // A page of the console loads a few dozen files without a token. 10,000 addresses take about 2 MiB.
  anonymous: { perSecond: 100, burst: 300, addresses: 10_000 },
};

/**
 * Maximum number of connections of any kind, including live connections and trusted proxies. Each takes a file descriptor and about 20 KiB.
 * Node closes further connections without a response, because it has not read a request yet.
 */
export const maxConnections = 20_000;

/**
 * How often Node checks the time limits of heads and whole requests. Node's default of 30 s would let requests exceed these limits by up to
 * 30 s. Node ends all late connections in one event-loop turn: with a check every 1 s, an attack with slow headers delayed other requests
 * by 30 ms.
 */
export const checkIntervalMs = 100;
/** Time limit for the head of a request. */
export const headersLimitMs = 10_000;
/** Time limit for the body of a platform message. */
export const messageBodyLimitMs = 2_000;

/**
 * Time limit for a whole request: 26 s for the largest body at 128 kbit/s, slower than any line that can carry live events.
 */
export const requestLimitMs = headersLimitMs + 26_000;
/** Maximum time without data on a connection while a request is in progress. */
export const silenceLimitMs = 60_000;
/** Time that a client has to read the last response on a connection that the gateway closes. */
export const lingerMs = 1_000;
