import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ServiceError } from '@stream-events/contracts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addressKey, clientAddressOf, type IsTrusted } from './client-address.js';
import { FairShare, type Claim } from './fair-share.js';
import {
  largeResponseBytes,
  maxRequestsPerConnection,
  unreadLimitMs,
  type HttpLimits,
} from './http-limits.js';
import { becomeProblem, sendProblem } from './problem.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route receives signed platform messages, which have their own limits. */
    receivesMessages?: boolean;
  }
}

/** A connection of a client. */
interface Connection {
  /** Returns the address of a request's client. On a connection from a trusted proxy, each request can come from a different client. */
  readonly addressOf: (request: IncomingMessage) => string;
  /** Returns the key by which limits count the client of a request: see `addressKey`. */
  readonly keyOf: (request: IncomingMessage) => string;
  /** The claim on the connection limit. Undefined for a trusted proxy. */
  readonly claim: Claim | undefined;
  /** The responses of the pending requests. */
  readonly pending: Set<ServerResponse>;
  /** Whether the connection serves no further request. */
  isTaken: boolean;
}

const connections = new WeakMap<Socket, Connection>();
const admissions = new WeakMap<FastifyRequest, Admission>();

/** The error for a request above a limit. */
export function tooManyRequests(): ServiceError {
  return new ServiceError(
    'unavailable',
    'Too many requests are in progress. Retry after the time in `Retry-After`.',
  );
}

/** Closes connections above a limit as soon as clients open them. */
export function limitConnections(
  server: Server,
  isTrusted: IsTrusted,
  limits: HttpLimits['connections'],
): void {
  const share = new FairShare(limits);
  server.on('connection', (socket: Socket) => {
    // A request whose upgrade is not accepted returns its socket to the server, which then emits `connection` again.
    if (connections.has(socket)) return;
    const address = socket.remoteAddress ?? '';
    const key = addressKey(address);
    // A trusted proxy has no limit, because its connections serve all its clients.
    const isProxy = isTrusted(address, 0);
    const claim = isProxy ? undefined : share.claim(key, 1);
    if (!isProxy && !claim) return void socket.destroy();
    claim?.offer(() => socket.destroy().destroyed);
    const pending = new Set<ServerResponse>();
    const addressOf = isProxy
      ? (request: IncomingMessage) => clientAddressOf(request, isTrusted)
      : () => address;
    const keyOf = isProxy ? (request: IncomingMessage) => addressKey(addressOf(request)) : () => key;
    connections.set(socket, { addressOf, keyOf, claim, pending, isTaken: false });
    socket.once('close', () => {
      claim?.release();
      // Node closes only the response that is being sent. A response that waits behind another one would never emit `close`, so its
      // request would never end.
      for (const response of pending) if (!response.socket) closeResponse(response);
    });
  });
}

/**
 * Closes a response as Node does. Sets Node's private field, so that code that starts to wait for the response later sees that it is
 * closed.
 */
function closeResponse(response: ServerResponse): void {
  Object.assign(response.destroy(), { _closed: true }).emit('close');
}

/** The decision about a request. */
interface Admission {
  /** Undefined if the request is refused. */
  claim: Claim | undefined;
}

/** Counts a request and decides whether the request is above the limit. Returns undefined when the connection serves no further request. */
export type Admit = (
  request: IncomingMessage,
  response: ServerResponse,
  kind: 'requests' | 'messages',
) => Admission | undefined;

/**
 * Rejects requests above a limit before their bodies are read, which limits the memory of waiting requests. Returns the check for direct
 * routes.
 */
export function limitRequests(fastify: FastifyInstance, limits: HttpLimits): Admit {
  const shares = { requests: new FairShare(limits.requests), messages: new FairShare(limits.messages) };
  const responses = new FairShare(limits.responses);
  const admit: Admit = (request, response, kind) => {
    const { socket } = request;
    const { pending, isTaken, keyOf } = connectionOf(socket);
    if (isTaken) {
      // The request would wait behind a response that stays open, and Node would not notice when the client disconnects.
      socket.destroy();
      return undefined;
    }
    const claim = pending.size < maxRequestsPerConnection ? shares[kind].claim(keyOf(request), 1) : undefined;
    pending.add(response);
    // `close` is also emitted when the client disconnects before the response.
    response.once('close', () => {
      pending.delete(response);
      claim?.release();
    });
    return { claim };
  };
  fastify.addHook('onRequest', (request, reply, done) => {
    const kind = request.routeOptions.config.receivesMessages ? 'messages' : 'requests';
    const admission = admit(request.raw, reply.raw, kind);
    if (!admission) return;
    admissions.set(request, admission);
    if (admission.claim) done();
    else sendProblem(reply, tooManyRequests());
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    const { socket } = request.raw;
    // From now on, the request can give way while its client does not read the response.
    const giveWay = (): boolean => socket.writableLength > 0 && socket.destroy().destroyed;
    admissions.get(request)?.claim?.offer(giveWay);
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return done(null, payload);
    // The client has left. Take no claim: the response does not emit `close` again, so nothing would release the claim.
    if (reply.raw.destroyed) return done(null, payload);
    // This timeout applies until the response has been sent. Node then sets the timeout for the next request.
    socket.setTimeout(unreadLimitMs);
    const bytes = Buffer.byteLength(payload);
    if (bytes < largeResponseBytes) return done(null, payload);
    // Close the connection after this response. Otherwise, a client that reads nothing could make the gateway buffer a large response for
    // each of its pipelined requests.
    if (connectionOf(socket).pending.size > 1) reply.header('connection', 'close');
    const claim = responses.claim(clientKeyOf(request.raw), bytes);
    if (!claim) return done(null, becomeProblem(reply.removeHeader('content-length'), tooManyRequests()));
    claim.offer(giveWay);
    reply.raw.once('close', () => claim.release());
    done(null, payload);
  });
  return admit;
}

/** Returns the key by which limits count the client of a request: see `addressKey`. */
export function clientKeyOf(request: IncomingMessage): string {
  return connectionOf(request.socket).keyOf(request);
}

/** Returns the client address of a request that Fastify does not handle, with the same result as `request.ip`. */
export function clientAddress(request: IncomingMessage): string {
  return connectionOf(request.socket).addressOf(request);
}

/**
 * Whether this is the only pending request on its connection. Responses are sent in the order of the requests, so earlier requests would
 * delay the response.
 */
export function isAlone(request: FastifyRequest): boolean {
  return connectionOf(request.raw.socket).pending.size === 1;
}

/**
 * Lets a response stay open. Its request no longer counts as in progress, because open responses have a separate limit. Its connection
 * accepts no other request.
 */
export function keepOpen(request: FastifyRequest): void {
  const { socket } = request.raw;
  takeConnection(socket);
  stopCounting(socket);
  admissions.get(request)?.claim?.release();
}

/** Makes a connection close when another request arrives on it. */
export function takeConnection(socket: Socket): void {
  connectionOf(socket).isTaken = true;
}

/** Stops counting the connection of a live client, because live connections have a separate limit. */
export function stopCounting(socket: Socket): void {
  connectionOf(socket).claim?.release();
}

function connectionOf(socket: Socket): Connection {
  const connection = connections.get(socket);
  if (!connection) throw new Error('the connection belongs to a server without limits');
  return connection;
}
