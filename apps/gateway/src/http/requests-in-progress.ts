import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressKey, clientAddressOf, type IsTrusted } from './client-address.js';
import { FairShare, type Claim } from './fair-share.js';
import { largeResponseBytes, unreadLimitMs, type HttpLimits } from './http-limits.js';
import { becomeProblem, sendProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route receives signed platform messages. They have separate limits. */
    receivesMessages?: boolean;
  }
}

interface Connection {
  /** Whether the peer is a trusted proxy. */
  readonly isProxy: boolean;
  /** The client address of a request. Behind a trusted proxy, each request can come from a different client. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** The key under which limits count the client of a request (`addressKey`). */
  readonly keyOf: (request: IncomingMessage) => string;
  /** Counts toward the connection limit. Undefined for a trusted proxy. */
  readonly claim: Claim | undefined;
  /** Responses that are not closed yet, including pipelined ones. */
  readonly pending: Set<ServerResponse>;
  /** Whether to close the connection when another request arrives. */
  isTaken: boolean;
  /** Whether the last response of the connection has been sent or waits behind others, so that further requests are dropped. */
  isRefused: boolean;
}

const connections = new WeakMap<Socket, Connection>();
const claims = new WeakMap<FastifyRequest, Claim>();

export function tooManyRequests(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many requests are in progress. Retry after the time in `Retry-After`.',
  );
}

/** Limits the open connections. At a limit, closes the new connection or, if its address holds fewer, an older one (see `FairShare`). */
export function limitConnections(
  server: Server,
  isTrusted: IsTrusted,
  limits: HttpLimits['connections'],
): void {
  const share = new FairShare(limits);
  server.on('connection', (socket: Socket) => {
    // A declined upgrade returns its socket to the server, which then emits `connection` a second time.
    if (connections.has(socket)) return;
    const address = socket.remoteAddress ?? '';
    const key = addressKey(address);
    // Connections of a trusted proxy have no limit, because they serve all clients behind the proxy.
    const isProxy = isTrusted(address, 0);
    const claim = isProxy ? undefined : share.claim(key, 1);
    if (!isProxy && !claim) return void socket.destroy();
    claim?.offer(() => socket.destroy().destroyed);
    const pending = new Set<ServerResponse>();
    const addressOf = isProxy
      ? (request: IncomingMessage) => clientAddressOf(request, isTrusted)
      : () => address;
    const keyOf = isProxy ? (request: IncomingMessage) => addressKey(addressOf(request)) : () => key;
    connections.set(socket, { isProxy, addressOf, keyOf, claim, pending, isTaken: false, isRefused: false });
    socket.once('close', () => {
      claim?.release();
      // Node closes only the response that it is sending. Close the pipelined responses behind it too: without `close`, their requests
      // would never end.
      for (const response of pending) if (!response.socket) closeResponse(response);
    });
  });
}

/**
 * Closes a response as Node does. Sets Node's private field, so that code that begins to wait for the response later sees that the response
 * is closed.
 */
function closeResponse(response: ServerResponse): void {
  Object.assign(response.destroy(), { _closed: true }).emit('close');
}

/** Counts a request until its response is closed. Returns undefined if the request exceeds a limit. */
export type Admit = (
  request: IncomingMessage,
  response: ServerResponse,
  kind: 'requests' | 'messages',
) => Claim | undefined;

/**
 * Rejects requests above a limit before their bodies are read, to bound memory. Also limits the large responses that clients have not read
 * yet. Returns the check for the direct routes.
 */
export function limitRequests(fastify: FastifyInstance, limits: HttpLimits): Admit {
  const shares = { requests: new FairShare(limits.requests), messages: new FairShare(limits.messages) };
  const responses = new FairShare(limits.responses);
  const admit: Admit = (request, response, kind) => {
    const claim = shares[kind].claim(clientKeyOf(request), 1);
    // Node also emits `close` when the client disconnects early.
    if (claim) response.once('close', () => claim.release());
    return claim;
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const kind = request.routeOptions.config.receivesMessages ? 'messages' : 'requests';
    const claim = admit(request.raw, reply.raw, kind);
    if (!claim) return sendProblem(reply, tooManyRequests());
    claims.set(request, claim);
    done();
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { socket } = request.raw;
    // The response is ready. If its client does not read it, the request can now give way to other requests.
    const giveWay = (): boolean => socket.writableLength > 0 && socket.destroy().destroyed;
    claims.get(request)?.offer(giveWay);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload);
    // The client has left. Make no claim: `close` has already been emitted, so nothing would release it.
    if (reply.raw.destroyed) return done(null, payload);
    // Applies until the response has been sent. Node then sets the timeout for the next request.
    socket.setTimeout(unreadLimitMs);
    const bytes = Buffer.byteLength(payload);
    if (bytes < largeResponseBytes) return done(null, payload);
    // Close the connection after this response if more requests are pending on it. Otherwise, a client that reads nothing could make the
    // gateway buffer one large response per pipelined request.
    if (connectionOf(socket).pending.size > 1) reply.header('connection', 'close');
    const claim = responses.claim(clientKeyOf(request.raw), bytes);
    if (!claim) return done(null, becomeProblem(reply.removeHeader('content-length'), tooManyRequests()));
    claim.offer(giveWay);
    reply.raw.once('close', () => claim.release());
    done(null, payload);
  });
  return admit;
}

/** The key under which limits count the client of a request (`addressKey`). */
export function clientKeyOf(request: IncomingMessage): string {
  return connectionOf(request.socket).keyOf(request);
}

/**
 * The key under which a limit counts a client without a token (`addressKey`). Undefined for a trusted proxy that sends a request of its
 * own, such as a health check, or that names no client.
 */
export function anonymousKeyOf(request: IncomingMessage): string | undefined {
  const { addressOf, keyOf, isProxy } = connectionOf(request.socket);
  return isProxy && addressOf(request) === request.socket.remoteAddress ? undefined : keyOf(request);
}

/** The client address of a request that bypasses Fastify. Equals Fastify's `request.ip`. */
export function clientAddress(request: IncomingMessage): string {
  return connectionOf(request.socket).addressOf(request);
}

/**
 * Whether this is the only pending request on its connection. Earlier requests would delay its response, because responses go out in order.
 */
export function isAlone(request: FastifyRequest): boolean {
  return connectionOf(request.raw.socket).pending.size === 1;
}

/**
 * Stops counting a request whose response stays open, because open responses have a separate limit. The connection accepts no further
 * request.
 */
export function keepOpen(request: FastifyRequest): void {
  const { socket } = request.raw;
  takeConnection(socket);
  stopCounting(socket);
  claims.get(request)?.release();
}

/** Makes the connection close when another request arrives on it. */
export function takeConnection(socket: Socket): void {
  connectionOf(socket).isTaken = true;
}

/** Stops counting a live connection toward the connection limit, because live connections have a separate limit. */
export function stopCounting(socket: Socket): void {
  connectionOf(socket).claim?.release();
}

export function connectionOf(socket: Socket): Connection {
  const connection = connections.get(socket);
  if (!connection) throw new Error('the connection belongs to a server without limits');
  return connection;
}
